import os

from cpg_client import AuthenticatedClient
from cpg_client.api.orders import list_orders
from cpg_client.models import ApiError
from cpg_client.types import UNSET

# Without these two arguments, the client sends the key in another header.
header = {"prefix": "", "auth_header_name": "x-api-key"}
client = AuthenticatedClient(base_url=os.environ["API"], token=os.environ["KEY"], **header)


def checked(answer):
    """The generated functions return a refusal like any other answer, and None for an unknown status."""
    if answer is None or isinstance(answer, ApiError):
        raise RuntimeError(answer)
    return answer


def all_orders(**filters):
    cursor = UNSET
    while True:
        page = checked(list_orders.sync(client=client, cursor=cursor, limit=100, **filters))
        yield from page.items
        if not page.next_cursor:
            return
        cursor = page.next_cursor


for order in all_orders(external_reference_id="python-1"):
    print(order.id, order.status, order.total_amount)
