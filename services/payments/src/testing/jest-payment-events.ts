import type { OrphanReason, PaymentEvent } from '@cpg/contracts';
import { givenFor } from '@cpg/event-sourcing/testing';
import type { Outcome, PaymentCommand, ReceivePayment, RefundPayment } from '../payment/command.ts';
import { paymentDecider } from '../payment/payment.ts';

// Commands and events of one payment, for tests of its decider. Commands are verbs (`failPayment`); events are in the
// past tense (`paymentFailed`).

export const given = givenFor(paymentDecider);

export const ORDER_ID = 'ord_01J0000000000000000000000A';
export const REFUND_ID = 'rfd_01J0000000000000000000000D';
export const SECOND_REFUND_ID = 'rfd_01J0000000000000000000000E';
export const RECEIVED_AT = new Date('2026-01-31T12:00:00.000Z');
/** The time of every command and event after the receipt. */
export const CHANGED_AT = new Date('2026-01-31T12:01:00.000Z');
export const CHANGED_AT_ISO = CHANGED_AT.toISOString();

export const receivePayment = (overrides: Partial<ReceivePayment> = {}): ReceivePayment => ({
  type: 'ReceivePayment',
  paymentId: 'pay_01J0000000000000000000000B',
  merchantId: 'mer_01J0000000000000000000000C',
  orderId: ORDER_ID,
  rail: 'crypto_deposit',
  providerId: 'bip122:000000000933ea01ad0ee984209779ba/f00d:0',
  currency: 'BTC',
  decimals: 8,
  amountMinor: 10_000n,
  feeMinor: 100n,
  feeSchedule: '2026-01-01',
  confirmed: true,
  seenAt: RECEIVED_AT,
  at: RECEIVED_AT,
  ...overrides,
});

export const paymentReceived = (overrides: Partial<ReceivePayment> = {}): PaymentEvent =>
  paymentDecider.decide(receivePayment(overrides), paymentDecider.initial)[0]!;
export const paymentReceivedUnconfirmed = paymentReceived({ confirmed: false });
export const paymentApplied: PaymentEvent = {
  type: 'PaymentApplied',
  data: { orderId: ORDER_ID, appliedMinor: '9000', unappliedMinor: '1000', at: CHANGED_AT_ISO },
};
export const paymentOrphaned = (orphanReason: OrphanReason = 'late'): PaymentEvent => ({
  type: 'PaymentOrphaned',
  data: { orphanReason, at: CHANGED_AT_ISO },
});
export const paymentFailed: PaymentEvent = {
  type: 'PaymentFailed',
  data: { failureReason: 'reorg', seenAt: RECEIVED_AT.toISOString(), at: CHANGED_AT_ISO },
};
export const paymentRefunded = (
  amountMinor: string,
  refundedTotalMinor = amountMinor,
  refundId = REFUND_ID,
): PaymentEvent => ({
  type: 'PaymentRefunded',
  data: { refundId, amountMinor, refundedTotalMinor, at: CHANGED_AT_ISO },
});

export const confirmPayment: PaymentCommand = { type: 'ConfirmPayment', confirmations: 2, at: CHANGED_AT };
export const recordOutcome = (outcome: Outcome): PaymentCommand => ({ type: 'RecordOutcome', outcome });
export const recordApplied = recordOutcome({
  status: 'applied',
  appliedMinor: 9_000n,
  unappliedMinor: 1_000n,
  at: CHANGED_AT,
});
export const recordOrphaned = recordOutcome({ status: 'orphan', orphanReason: 'late', at: CHANGED_AT });
export const recordOrphanedByCancellation = recordOutcome({
  status: 'orphan',
  orphanReason: 'canceled',
  at: CHANGED_AT,
});
export const failPayment: PaymentCommand = { type: 'FailPayment', failureReason: 'reorg', at: CHANGED_AT };
/** Refunds the amount, or all that is left. */
export const refundPayment = (amountMinor?: bigint, refundId = REFUND_ID): RefundPayment => ({
  type: 'RefundPayment',
  refundId,
  ...(amountMinor === undefined ? { what: 'all' } : { amountMinor }),
  at: CHANGED_AT,
});
/** Refunds the surplus. `byDefault`: it has to be due. */
export const refundSurplus = (refundId = REFUND_ID, { byDefault = false } = {}): RefundPayment => ({
  type: 'RefundPayment',
  refundId,
  ...(!byDefault && { what: 'surplus' }),
  at: CHANGED_AT,
});
