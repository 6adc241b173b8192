import type { OrphanReason, PaymentEvent } from '@cpg/contracts';
import { givenFor } from '@cpg/event-sourcing/testing';
import type { Outcome, PaymentCommand, ReceivePayment, RefundPayment, RequestRefund } from '../payment/command.ts';
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
/** Refunds a part of a refund of the order. */
export const refundOrderPart = (amountMinor: bigint, refundId = REFUND_ID): RefundPayment => ({
  type: 'RefundPayment',
  refundId,
  orderRefundId: `orf_${'0'.repeat(26)}`,
  amountMinor,
  at: CHANGED_AT,
});
/** Refunds the surplus. `byDefault`: it has to be due. */
export const refundSurplus = (refundId = REFUND_ID, { byDefault = false } = {}): RefundPayment => ({
  type: 'RefundPayment',
  refundId,
  ...(!byDefault && { what: 'surplus' }),
  at: CHANGED_AT,
});

/** Of a refund from the merchant's own wallet. */
export const REFUND_TRANSFER = { transferId: '0x0c:0', txHash: '0x0c' };
const PAYOUT = { network: 'bitcoin', asset: 'bip122:000000000933ea01ad0ee984209779ba/slip44:0' };
const ADDRESSED = { destination: 'tb1qpayer', senders: ['tb1qmerchant'], afterHeight: 9 };

/** Requests the amount, or all that is left. */
export const requestRefund = (amountMinor?: bigint, refundId = REFUND_ID): RequestRefund => ({
  ...refundPayment(amountMinor, refundId),
  type: 'RequestRefund',
  ...PAYOUT,
});
export const requestSurplus = (refundId = REFUND_ID, options = {}): RequestRefund => ({
  ...refundSurplus(refundId, options),
  type: 'RequestRefund',
  ...PAYOUT,
});
export const addressRefund = (refundId = REFUND_ID, destination = ADDRESSED.destination): PaymentCommand => ({
  type: 'AddressRefund',
  refundId,
  ...ADDRESSED,
  destination,
  at: CHANGED_AT,
});
/** The hash of the token of a claim link, and until when it works. */
export const CLAIM = { tokenHash: '0a'.repeat(32), expiresAt: '2026-03-02T12:01:00.000Z' };
export const issueRefundClaim = (tokenHash = CLAIM.tokenHash, refundId = REFUND_ID): PaymentCommand => ({
  type: 'IssueRefundClaim',
  refundId,
  tokenHash,
  onPage: false,
  expiresAt: new Date(CLAIM.expiresAt),
  at: CHANGED_AT,
});
export const claimRefund = ({
  destination = ADDRESSED.destination,
  tokenHash = CLAIM.tokenHash,
  endsBy = CHANGED_AT,
} = {}): PaymentCommand => ({
  type: 'ClaimRefund',
  refundId: REFUND_ID,
  tokenHash,
  ...ADDRESSED,
  destination,
  endsBy,
  at: CHANGED_AT,
});
export const refundClaimIssued = (tokenHash = CLAIM.tokenHash): PaymentEvent => ({
  type: 'PaymentRefundClaimIssued',
  data: { refundId: REFUND_ID, tokenHash, onPage: false, expiresAt: CLAIM.expiresAt, at: CHANGED_AT_ISO },
});
export const refundClaimed: PaymentEvent = {
  type: 'PaymentRefundClaimed',
  data: {
    refundId: REFUND_ID,
    amountMinor: '4000',
    ...PAYOUT,
    ...ADDRESSED,
    requestedAt: CHANGED_AT_ISO,
    at: CHANGED_AT_ISO,
  },
};
export const reportRefund = (
  isFinal: boolean,
  { refundId = REFUND_ID, ...transfer }: { readonly refundId?: string } & Partial<typeof REFUND_TRANSFER> = {},
): PaymentCommand => ({ type: 'ReportRefund', refundId, ...REFUND_TRANSFER, ...transfer, isFinal, at: CHANGED_AT });
export const reopenRefund = (refundId = REFUND_ID, transferId = REFUND_TRANSFER.transferId): PaymentCommand => ({
  type: 'ReopenRefund',
  refundId,
  transferId,
  at: CHANGED_AT,
});
export const cancelRefund = (refundId = REFUND_ID): PaymentCommand => ({
  type: 'CancelRefund',
  refundId,
  at: CHANGED_AT,
});

export const refundRequested = (amountMinor = '4000', refundId = REFUND_ID): PaymentEvent => ({
  type: 'PaymentRefundRequested',
  data: { refundId, amountMinor, ...PAYOUT, at: CHANGED_AT_ISO },
});
export const refundAddressed: PaymentEvent = {
  type: 'PaymentRefundAddressed',
  data: { refundId: REFUND_ID, ...ADDRESSED, at: CHANGED_AT_ISO },
};
export const refundSent: PaymentEvent = {
  type: 'PaymentRefundSent',
  data: { refundId: REFUND_ID, ...REFUND_TRANSFER, at: CHANGED_AT_ISO },
};
export const refundReopened: PaymentEvent = {
  type: 'PaymentRefundReopened',
  data: { refundId: REFUND_ID, at: CHANGED_AT_ISO },
};
export const refundCanceled: PaymentEvent = {
  type: 'PaymentRefundCanceled',
  data: { refundId: REFUND_ID, at: CHANGED_AT_ISO },
};
export const refundSettled = (amountMinor = '4000', refundedTotalMinor = amountMinor): PaymentEvent => ({
  type: 'PaymentRefunded',
  data: {
    refundId: REFUND_ID,
    amountMinor,
    refundedTotalMinor,
    txHash: REFUND_TRANSFER.txHash,
    ...PAYOUT,
    destination: ADDRESSED.destination,
    requestedAt: CHANGED_AT_ISO,
    at: CHANGED_AT_ISO,
  },
});
