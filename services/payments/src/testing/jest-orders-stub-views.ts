import { fromMinor, type OfferedPayment, type Order, type Payment, type PaymentOutcome } from '@cpg/contracts';

/** The decision on a payment that is offered for the first time. */
export type Decide = (payment: OfferedPayment, confirmed: boolean) => PaymentOutcome;

export interface StubOrder {
  readonly id: string;
  readonly merchantId: string;
  readonly decide: Decide;
  readonly payments: Map<string, { payment: OfferedPayment; outcome: PaymentOutcome }>;
}

/** The order as the orders service would show it. */
export const orderView = ({ id, merchantId, payments }: StubOrder): Order => ({
  id,
  external_reference_id: 'cart-1',
  merchant_id: merchantId,
  items: [],
  item_totals: {},
  payments: [...payments.values()].map(({ payment, outcome }) => paymentView(payment, outcome, { id, merchantId })),
  status: 'awaiting_payment',
  total_amount: '10.000000',
  remaining_amount: '10.000000',
  currency: 'USDC',
  rates: {},
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
  deposit_instructions: [],
});

const paymentView = (
  payment: OfferedPayment,
  outcome: PaymentOutcome,
  order: { id: string; merchantId: string },
): Payment => {
  const amount = (minor: string) => fromMinor(BigInt(minor), payment.decimals);
  return {
    id: payment.paymentId,
    merchant_id: order.merchantId,
    order_id: order.id,
    status: outcome.status,
    payment_rail: payment.rail,
    provider_id: payment.providerId,
    paid_amount: amount(payment.amountMinor),
    fee_amount: amount(payment.feeMinor),
    net_amount: amount(String(BigInt(payment.amountMinor) - BigInt(payment.feeMinor))),
    currency: payment.currency,
    ...(outcome.status === 'applied' && { applied_amount: amount(outcome.applied_minor) }),
    ...(outcome.status === 'applied' &&
      outcome.unapplied_minor !== '0' && { unapplied_amount: amount(outcome.unapplied_minor) }),
    ...(outcome.status === 'orphan' && { orphan_reason: outcome.orphan_reason }),
    created_at: payment.receivedAt,
    updated_at: 'at' in outcome ? outcome.at : payment.receivedAt,
  };
};
