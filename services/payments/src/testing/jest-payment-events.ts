import type { PaymentEvent } from '@cpg/contracts';
import { givenFor } from '@cpg/core';
import type { Outcome, PaymentCommand, ReceivePayment } from '../payment/command.ts';
import { paymentDecider } from '../payment/payment.ts';

// Events and commands of one payment, for tests of its decider.

export const given = givenFor(paymentDecider);

export const ORDER = 'ord_01J0000000000000000000000A';
export const T0 = new Date('2026-01-31T12:00:00.000Z');
export const T1 = new Date('2026-01-31T12:01:00.000Z');
export const at = T1.toISOString();

export const receive = (changes: Partial<ReceivePayment> = {}): ReceivePayment => ({
  type: 'ReceivePayment',
  paymentId: 'pay_01J0000000000000000000000B',
  merchantId: 'mer_01J0000000000000000000000C',
  orderId: ORDER,
  rail: 'crypto_deposit',
  providerId: 'bip122:000000000933ea01ad0ee984209779ba/f00d:0',
  currency: 'BTC',
  amountMinor: 10_000n,
  feeMinor: 100n,
  feeSchedule: '2026-01-01',
  confirmed: true,
  seenAt: T0,
  at: T0,
  ...changes,
});

export const received = (changes: Partial<ReceivePayment> = {}): PaymentEvent =>
  paymentDecider.decide(receive(changes), paymentDecider.initial)[0]!;
export const seen = received({ confirmed: false });
export const applied: PaymentEvent = {
  type: 'PaymentApplied',
  data: { orderId: ORDER, appliedMinor: '9000', unappliedMinor: '1000', at },
};
export const orphaned = (orphanReason: 'late' | 'canceled' | 'unknown_order' = 'late'): PaymentEvent => ({
  type: 'PaymentOrphaned',
  data: { orphanReason, at },
});
export const failed: PaymentEvent = { type: 'PaymentFailed', data: { failureReason: 'reorg', at } };
export const refunded = (amountMinor: string, refundedTotalMinor = amountMinor, refundId = RFD): PaymentEvent => ({
  type: 'PaymentRefunded',
  data: { refundId, amountMinor, refundedTotalMinor, at },
});
export const RFD = 'rfd_01J0000000000000000000000D';
export const RFD2 = 'rfd_01J0000000000000000000000E';

export const confirm: PaymentCommand = { type: 'ConfirmPayment', confirmations: 2, at: T1 };
export const record = (outcome: Outcome): PaymentCommand => ({ type: 'RecordOutcome', outcome });
export const isApplied = record({ status: 'applied', appliedMinor: 9_000n, unappliedMinor: 1_000n, at: T1 });
export const isOrphan = record({ status: 'orphan', orphanReason: 'late', at: T1 });
export const isCanceled = record({ status: 'orphan', orphanReason: 'canceled', at: T1 });
export const fails: PaymentCommand = { type: 'FailPayment', failureReason: 'reorg', at: T1 };
export const refund = (amountMinor?: bigint, refundId = RFD): PaymentCommand => ({
  type: 'RefundPayment',
  refundId,
  amountMinor,
  at: T1,
});
