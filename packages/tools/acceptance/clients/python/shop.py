"""Prints the states of an order that it creates, lists, cancels, and reads with a state of a later version."""

import os

from cpg_client import AuthenticatedClient
from cpg_client.api.orders import cancel_order, create_order, get_order, list_order_history, list_orders
from cpg_client.models import (
    CapabilitiesDto,
    ItemCurrency,
    ItemDto,
    MerchantCreateOrderDto,
    MetadataDto,
    OrderStatus,
    PaymentCurrency,
    Rail,
)


def client_at(url):
    return AuthenticatedClient(base_url=url, token=os.environ["API_KEY"], prefix="", auth_header_name="x-api-key")


client = client_at(os.environ["BASE_URL"])
body = MerchantCreateOrderDto(
    external_reference_id="python-1",
    items=[ItemDto(name="Coffee", quantity=1.5, unit_price="10", currency=ItemCurrency.USD)],
    enable_rails=[Rail.GATEWAY_PAY],
    payment_currency=PaymentCurrency.USDT,
    capabilities=CapabilitiesDto(
        can_cancel=True,
        can_update=True,
        can_overpay=False,
        partial_payments=True,
        express_checkout=False,
        expiration_auto_renewal=False,
    ),
    metadata=MetadataDto.from_dict({"table": "B7"}),
)
created = create_order.sync(client=client, body=body)
page = list_orders.sync(
    client=client,
    status=[OrderStatus.AWAITING_PAYMENT],
    external_reference_id="python-1",
    metadata="table=B7",
    limit=1,
)
later = get_order.sync(created.id, client=client_at(os.environ["LATER_URL"]))
history = list_order_history.sync(created.id, client=client, limit=1)
canceled = cancel_order.sync(created.id, client=client)
refusal = get_order.sync("ord_unknown", client=client)
print(
    "RESULT",
    created.status,
    "listed" if page.items[0].id == created.id else "missing",
    history.items[0].data.items[0].name,
    later.status,
    canceled.status,
    refusal.status_code,
)
