import type { z } from 'zod';
import { withoutUndefined } from './carried-fields.ts';
import type { RecordedEntry } from './history.ts';
import { fromMinor } from './money.ts';
import { ORDER_STREAM_PREFIX, OrderEvent } from './order-events.ts';
import { PaymentEvent } from './payment-events.ts';
import type { AssignedInstruction } from './recorded-values.ts';
import type { HistoryData, HistoryEntry, HistoryEventType, HistoryInstruction } from './resources/history.ts';
import { OrderDetails, type OrderStatus } from './resources/order.ts';

/** The decimals of the minor units of the order or the payment with this id; undefined when they are not known. */
export type DecimalsOf = (id: string) => number | undefined;

type DataOf<E extends { type: string; data: unknown }, T extends E['type']> = Extract<E, { type: T }>['data'];
type AmountOf = (minor: string, id?: string) => string | undefined;
type View = (data: unknown, amount: AmountOf) => object;
type Views<E extends { type: HistoryEventType; data: unknown }> = {
  [T in E['type']]: (data: DataOf<E, T>, amount: AmountOf) => HistoryData<T>;
};
type Transition = { readonly status: OrderStatus; readonly reason: string };

const transition = ({ status, reason }: Transition) => ({ status, status_reason: reason });

const instructionView = (instruction: AssignedInstruction): z.infer<typeof HistoryInstruction> => {
  const { rail, currency } = instruction;
  if (rail === 'gateway_pay') {
    const { provider, paymentReference: payment_reference, paymentUrl: payment_url } = instruction;
    return { rail, currency, provider, payment_reference, payment_url };
  }
  const { network, chainId: chain_id, asset, assetLabel, address, decimals, requiredConfirmations } = instruction;
  const label = assetLabel === undefined ? {} : { asset_label: assetLabel };
  const where = { network, chain_id, asset, ...label, address, decimals };
  return { rail, currency, ...where, required_confirmations: requiredConfirmations };
};

// Each field is named here, so that a field which is added to an event does not become public by itself.
const ORDER_VIEWS: Views<OrderEvent> = {
  OrderCreated: (data, amount) => ({
    order_id: data.orderId,
    merchant_id: data.merchantId,
    ...OrderDetails.toShown(data),
    items: data.items,
    enable_rails: data.rails,
    currency: data.currency,
    capabilities: data.capabilities,
    rates: data.rates,
    total_amount: amount(data.totalMinor),
    underpayment_tolerance_percent: data.toleranceBps && data.toleranceBps / 100,
    expiration_minutes: data.expirationMinutes,
    expiration_date: data.expiresAt,
    deposit_instructions: data.instructions?.map(instructionView),
    ...transition(data),
  }),
  OrderInstructed: (data) => ({ deposit_instructions: data.instructions.map(instructionView), ...transition(data) }),
  OrderPaymentReceived: ({ payment, confirmed }) => ({
    payment: withoutUndefined({
      id: payment.paymentId,
      payment_rail: payment.rail,
      provider_id: payment.providerId,
      currency: payment.currency,
      asset: payment.asset,
      asset_label: payment.assetLabel,
      credited: payment.credited,
      paid_amount: fromMinor(BigInt(payment.amountMinor), payment.decimals),
      fee_amount: fromMinor(BigInt(payment.feeMinor), payment.decimals),
      tx_hash: payment.txHash,
      confirmations: payment.confirmations,
      block: payment.block,
      metadata: payment.metadata,
      seen_at: payment.seenAt,
      confirmed_at: payment.confirmedAt,
      created_at: payment.receivedAt,
    }),
    confirmed,
  }),
  OrderPaymentConfirmed: ({ paymentId, confirmations, confirmedAt }) => ({
    payment_id: paymentId,
    confirmations,
    confirmed_at: confirmedAt,
  }),
  OrderPaymentBlockChanged: ({ paymentId, block, confirmations }) => ({ payment_id: paymentId, block, confirmations }),
  OrderPaymentsApplied: (data, amount) => ({
    allocations: data.allocations.flatMap(({ paymentId, appliedMinor, unappliedMinor }) => {
      const [applied_amount, unapplied_amount] = [amount(appliedMinor), amount(unappliedMinor)];
      return applied_amount && unapplied_amount ? [{ payment_id: paymentId, applied_amount, unapplied_amount }] : [];
    }),
    shortfall_amount: data.shortfallMinor && amount(data.shortfallMinor),
    ...transition(data),
  }),
  OrderPaymentsOrphaned: ({ paymentIds, orphanReason }) => ({ payment_ids: paymentIds, orphan_reason: orphanReason }),
  OrderPaymentFailed: (data) => ({
    payment_id: data.paymentId,
    failure_reason: data.failureReason,
    failed_at: data.failedAt,
    ...transition(data),
  }),
  OrderPaymentReinstated: ({ paymentId, sighting, reinstatedAt, confirmed, confirmedAt, ...data }) => ({
    payment_id: paymentId,
    sighting,
    reinstated_at: reinstatedAt,
    confirmed,
    confirmed_at: confirmedAt,
    confirmations: data.confirmations,
    block: data.block,
  }),
  OrderPaymentRefunded: (data, amount) => ({
    payment_id: data.paymentId,
    refund_id: data.refundId,
    refunded_amount: amount(data.refundedTotalMinor, data.paymentId),
    applied_amount: data.appliedMinor === undefined ? undefined : amount(data.appliedMinor, data.paymentId),
    refunded_at: data.refundedAt,
    ...transition(data),
  }),
  OrderAccepted: (data, amount) => ({
    shortfall_amount: amount(data.shortfallMinor),
    reason: data.acceptedBecause,
    ...transition(data),
  }),
  OrderRefunded: (data, amount) => ({
    order_refund_id: data.orderRefundId,
    amount: amount(data.amountMinor),
    requested_amount: data.requestedAmount,
    requested_currency: data.requestedCurrency,
    reason: data.reason,
    parts: data.parts.map(({ refundId, paymentId, amountMinor }) => ({
      refund_id: refundId,
      payment_id: paymentId,
      amount: amount(amountMinor),
    })),
  }),
  OrderPaid: ({ reason }) => ({ status: 'paid', status_reason: reason }),
  OrderUpdated: ({ metadata, items, rates, totalMinor, expirationMinutes, expiresAt }, amount) => ({
    metadata,
    items,
    rates,
    total_amount: totalMinor === undefined ? undefined : amount(totalMinor),
    expiration_minutes: expirationMinutes,
    expiration_date: expiresAt,
  }),
  OrderRenewed: ({ rates, totalMinor, expiresAt, renewal }, amount) => ({
    rates,
    total_amount: amount(totalMinor),
    expiration_date: expiresAt,
    renewal,
  }),
  OrderTimeAdvanced: ({ minutes, expiresAt }) => ({ minutes, expiration_date: expiresAt }),
  OrderExpired: (data) => ({ payment_ids: data.orphanedPaymentIds, ...transition(data) }),
  OrderCanceled: (data) => ({ payment_ids: data.orphanedPaymentIds, ...transition(data) }),
  OrderDeleted: ({ reason }) => ({ reason }),
};

const PAYMENT_VIEWS: Views<PaymentEvent> = {
  PaymentReceived: (data, amount) => ({
    payment_id: data.paymentId,
    order_id: data.orderId,
    merchant_id: data.merchantId,
    payment_rail: data.rail,
    provider_id: data.providerId,
    currency: data.currency,
    asset: data.asset,
    asset_label: data.assetLabel,
    credited: data.credited,
    paid_amount: amount(data.amountMinor),
    fee_amount: amount(data.feeMinor),
    confirmed: data.confirmed,
    tx_hash: data.txHash,
    confirmations: data.confirmations,
    block: data.block,
    metadata: data.metadata,
    seen_at: data.seenAt,
  }),
  PaymentConfirmed: ({ confirmations }) => ({ confirmations }),
  PaymentBlockChanged: ({ block, confirmations }) => ({ block, confirmations }),
  PaymentApplied: ({ orderId, appliedMinor, unappliedMinor }, amount) => ({
    order_id: orderId,
    applied_amount: amount(appliedMinor),
    unapplied_amount: amount(unappliedMinor),
  }),
  PaymentOrphaned: ({ orphanReason }) => ({ orphan_reason: orphanReason }),
  PaymentFailed: ({ failureReason }) => ({ failure_reason: failureReason }),
  PaymentReinstated: ({ sighting, seenAt, confirmed, confirmations, block }) => ({
    sighting,
    seen_at: seenAt,
    confirmed,
    confirmations,
    block,
  }),
  PaymentRefunded: (
    { refundId, orderRefundId, amountMinor, refundedTotalMinor, reason, txHash, network, destination },
    amount,
  ) => ({
    refund_id: refundId,
    order_refund_id: orderRefundId,
    amount: amount(amountMinor),
    refunded_amount: amount(refundedTotalMinor),
    reason,
    tx_hash: txHash,
    network,
    destination,
  }),
  PaymentRefundRequested: ({ refundId, amountMinor, reason, network, asset }, amount) => ({
    refund_id: refundId,
    amount: amount(amountMinor),
    network,
    asset,
    reason,
  }),
  PaymentRefundAddressed: ({ refundId, destination }) => ({ refund_id: refundId, destination }),
  PaymentRefundSent: ({ refundId, txHash }) => ({ refund_id: refundId, tx_hash: txHash }),
  PaymentRefundReopened: ({ refundId }) => ({ refund_id: refundId }),
  PaymentRefundCanceled: ({ refundId }) => ({ refund_id: refundId }),
  PaymentRefundClaimIssued: ({ refundId, expiresAt }) => ({ refund_id: refundId, claim_expires_at: expiresAt }),
  PaymentRefundClaimed: ({ refundId, amountMinor, destination }, amount) => ({
    refund_id: refundId,
    amount: amount(amountMinor),
    destination,
  }),
  PaymentAssigned: ({ merchantId, orderId, sighting, seenAt, confirmedAt }) => ({
    merchant_id: merchantId,
    order_id: orderId,
    sighting,
    seen_at: seenAt,
    confirmed_at: confirmedAt,
  }),
};

const isOrderStream = (stream: string): boolean => stream.startsWith(ORDER_STREAM_PREFIX);

const dataView = ({ stream, type, data }: RecordedEntry, decimalsOf: DecimalsOf): object => {
  const schema = isOrderStream(stream) ? OrderEvent : PaymentEvent;
  const event = schema.safeParse({ type, data });
  const views: object = isOrderStream(stream) ? ORDER_VIEWS : PAYMENT_VIEWS;
  const view = Object.entries(views).find(([name]) => name === type)?.[1] as View | undefined;
  // A newer version may have recorded this type or its fields.
  if (!event.success || !view) return {};
  const ofStream = decimalsOf(stream.slice(stream.indexOf('-') + 1));
  const amount: AmountOf = (minor, id) => {
    const decimals = id === undefined ? ofStream : decimalsOf(id);
    return decimals === undefined ? undefined : fromMinor(BigInt(minor), decimals);
  };
  return withoutUndefined(view(event.data.data, amount));
};

/** A recorded event in the form of the API: snake_case, decimal amounts, and none of the fields that only we need. An
 *  event of a newer version has no data. */
export const historyView = (entry: RecordedEntry, orderId: string, decimalsOf: DecimalsOf): HistoryEntry => {
  // The hash covers the recorded form, so salt and version are of no use without it.
  const { id, stream, salt: _, hash_version: __, ...rest } = entry;
  return { id, stream, order_id: orderId, ...rest, data: dataView(entry, decimalsOf) } as HistoryEntry;
};
