from cpg_client.api.orders import create_order, get_order
from cpg_client.api.payments import list_payments, refund_payment
from cpg_client.api.sandbox import register_payment
from cpg_client.models import MerchantCreateOrderDto, RefundPart, RefundPayment, RegisterPayment

body = MerchantCreateOrderDto.from_dict(
    {
        "external_reference_id": "python-2",
        "items": [{"name": "Coffee", "quantity": 2, "unit_price": "5", "currency": "USD"}],
        "enable_rails": ["crypto_deposit"],
        "payment_currency": "USDC",
        "capabilities": {
            "can_cancel": True,
            "can_update": True,
            "can_overpay": False,
            "partial_payments": True,
            "express_checkout": False,
            "expiration_auto_renewal": False,
        },
    }
)
order = checked(create_order.sync(client=client, body=body, idempotency_key="python-2"))

# In a sandbox: the payer sends more than the total.
paid = {"order_id": order.id, "payment_rail": "crypto_deposit", "amount": "12.5", "currency": "USDC"}
checked(register_payment.sync(client=client, body=RegisterPayment.from_dict(paid)))

order = checked(get_order.sync(order.id, client=client))
# An absent field is UNSET, which is false.
print(order.status, "due back:", order.due_back_amount or "0")

# Pay the surplus back, then record it.
for payment in checked(list_payments.sync(client=client, order_id=order.id, due_back=True, limit=100)).items:
    surplus = RefundPayment(what=RefundPart.SURPLUS, reason="paid too much")
    key = f"surplus-{payment.id}"
    refunded = checked(refund_payment.sync(payment.id, client=client, body=surplus, idempotency_key=key))
    print(refunded.refund_id, refunded.refunded_amount, "due back:", refunded.due_back_amount or "0")
