import { withoutUndefined, type Rendered } from './carried-fields.ts';
import { decimalsIn, fromMinor } from './money.ts';
import { PaymentRefundClaimed, PaymentRefunded } from './payment-events.ts';
import type { PaymentState } from './payment-view.ts';
import type { Payment } from './resources/payment.ts';
import type { Refund, RefundStatus } from './resources/refund.ts';
import type { ResourceMessage } from './topics.ts';

/** A refund as folded from events. The amount is in minor units of its payment. */
export interface RefundState {
  readonly refundId: string;
  readonly status: RefundStatus;
  readonly amountMinor: bigint;
  /** The refund of the order that it is a part of. */
  readonly orderRefundId?: string | undefined;
  readonly reason?: string | undefined;
  readonly txHash?: string | undefined;
  readonly network?: string | undefined;
  /** CAIP-19 of the coin or token of a refund that its chain proves. */
  readonly asset?: string | undefined;
  readonly destination?: string | undefined;
  /** The last link on which the payer can enter the destination. */
  readonly claim?: { readonly expiresAt: string } | undefined;
  /** When it was recorded or requested. */
  readonly at: string;
  /** When it was settled or canceled. */
  readonly endedAt?: string | undefined;
}

/** The refund after the event that recorded or settled it. */
export const recordedRefund = ({
  refundId,
  amountMinor,
  orderRefundId,
  reason,
  txHash,
  network,
  asset,
  destination,
  requestedAt,
  at,
}: ReturnType<typeof PaymentRefunded.recorded.parse>): Omit<RefundState, 'claim'> =>
  withoutUndefined({
    refundId,
    status: requestedAt === undefined ? 'recorded' : 'settled',
    amountMinor: BigInt(amountMinor),
    orderRefundId,
    reason,
    txHash,
    network,
    asset,
    destination,
    at: requestedAt ?? at,
    endedAt: requestedAt === undefined ? undefined : at,
  });

/** The Refund resource. */
export const refundView = (
  refund: RefundState,
  payment: Pick<PaymentState, 'paymentId' | 'merchantId' | 'orderId' | 'currency' | 'decimals'>,
): Refund => {
  const view: Rendered<Refund, object> = {
    id: refund.refundId,
    merchant_id: payment.merchantId,
    payment_id: payment.paymentId,
    order_id: payment.orderId,
    order_refund_id: refund.orderRefundId,
    status: refund.status,
    amount: fromMinor(refund.amountMinor, payment.decimals),
    currency: payment.currency,
    reason: refund.reason,
    tx_hash: refund.txHash,
    network: refund.network,
    asset: refund.asset,
    destination: refund.destination,
    claim_expires_at: isClaimable(refund) ? refund.claim?.expiresAt : undefined,
    created_at: refund.at,
    settled_at: refund.status === 'settled' ? refund.endedAt : undefined,
  };
  return withoutUndefined(view) as Refund;
};

/** Whether the refund waits for an address of the payer. */
const isClaimable = ({ status, destination }: Pick<RefundState, 'status' | 'destination'>): boolean =>
  status === 'pending' && destination === undefined;

/** The refund that a webhook event is about; undefined for a message about something else. */
export const refundIn = ({ type, data }: Pick<ResourceMessage, 'type' | 'data'>): Refund | undefined => {
  const refund = stateIn(type, data.change);
  if (!refund) return undefined;
  const { id, merchant_id, order_id, currency, paid_amount } = data.resource as Payment;
  return refundView(refund, {
    paymentId: id,
    merchantId: merchant_id,
    orderId: order_id,
    currency,
    decimals: decimalsIn(paid_amount),
  });
};

const stateIn = (type: ResourceMessage['type'], change: unknown): RefundState | undefined => {
  if (type === PaymentRefunded.message) return recordedRefund(PaymentRefunded.recorded.parse(change));
  if (type !== PaymentRefundClaimed.message) return undefined;
  const { amountMinor, requestedAt, ...refund } = PaymentRefundClaimed.recorded.parse(change);
  return { ...refund, status: 'pending', amountMinor: BigInt(amountMinor), at: requestedAt };
};
