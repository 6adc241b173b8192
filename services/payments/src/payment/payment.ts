import {
  fromMinor,
  type Metadata,
  type OrphanReason,
  type PaymentCurrency,
  type PaymentEvent,
  type PaymentRail,
} from '@cpg/contracts';
import { AppError, type Decider, unreachable } from '@cpg/core';
import { evolve, type ExistingPayment, exists, type Payment, refundableMinor, UNCLAIMED_MERCHANT } from './state.ts';

export type ReceivePayment = {
  readonly type: 'ReceivePayment';
  readonly paymentId: string;
  /** `UNCLAIMED_MERCHANT` when the order does not exist. */
  readonly merchantId: string;
  /** The order that the payment is for; the deposit address when that belongs to no order. */
  readonly orderId: string;
  readonly address?: string | undefined;
  readonly rail: PaymentRail;
  readonly providerId: string;
  readonly currency: PaymentCurrency;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  readonly feeSchedule: string;
  /** Whether the rail guarantees the payment. */
  readonly confirmed: boolean;
  readonly txHash?: string | undefined;
  readonly confirmations?: number | undefined;
  readonly metadata?: Metadata | undefined;
  /** When the rail first saw it. */
  readonly seenAt: Date;
  readonly at: Date;
};

/** What the order decided. `at` is the time of that decision. */
export type Outcome =
  | { readonly status: 'applied'; readonly appliedMinor: bigint; readonly unappliedMinor: bigint; readonly at: Date }
  | { readonly status: 'orphan'; readonly orphanReason: OrphanReason; readonly at: Date };

export type RefundPayment = {
  readonly type: 'RefundPayment';
  readonly refundId: string;
  /** Defaults to everything not refunded yet. */
  readonly amountMinor?: bigint | undefined;
  readonly reason?: string | undefined;
  readonly at: Date;
};

export type PaymentCommand =
  | ReceivePayment
  | { readonly type: 'ConfirmPayment'; readonly confirmations?: number | undefined; readonly at: Date }
  | { readonly type: 'RecordOutcome'; readonly outcome: Outcome }
  /** The reason defaults to `dropped` before the order applied the payment, and to `reorg` (a chain reorganisation)
   *  after. */
  | { readonly type: 'FailPayment'; readonly failureReason?: string | undefined; readonly at: Date }
  | RefundPayment;

const decide = (command: PaymentCommand, payment: Payment): PaymentEvent[] => {
  if (command.type === 'ReceivePayment') return receive(command, payment);
  if (!exists(payment)) throw new AppError('not_found', 'the payment does not exist');
  switch (command.type) {
    case 'ConfirmPayment':
      if (payment.status === 'failed')
        throw new AppError(
          'payment_conflict',
          `the payment failed (${payment.failureReason}) and can no longer be confirmed`,
        );
      return confirm(payment, command.confirmations, command.at);
    case 'RecordOutcome':
      return recordOutcome(command.outcome, payment);
    case 'FailPayment':
      return fail(command, payment);
    case 'RefundPayment':
      return refund(command, payment);
    default:
      return unreachable(command);
  }
};

const receive = (command: ReceivePayment, payment: Payment): PaymentEvent[] => {
  if (exists(payment)) {
    const differing = differences(command, payment);
    if (differing.length > 0) {
      throw new AppError(
        'payment_conflict',
        `this payment was already reported with another ${differing.join(', another ')}`,
      );
    }
    return command.confirmed ? confirm(payment, command.confirmations, command.at) : [];
  }
  const { type: _, amountMinor, feeMinor, seenAt, at, ...data } = command;
  const received: PaymentEvent = {
    type: 'PaymentReceived',
    data: {
      ...data,
      amountMinor: String(amountMinor),
      feeMinor: String(feeMinor),
      seenAt: seenAt.toISOString(),
      at: at.toISOString(),
    },
  };
  return [received, ...(command.confirmed ? orphanedIfUnclaimed(command, at) : [])];
};

const differences = (command: ReceivePayment, payment: ExistingPayment): string[] => {
  const { orderId, address, currency, amountMinor } = payment;
  // The address may have been assigned to an order since: earlier payments to it keep their original order id.
  const sameAddress = address !== undefined && command.address === address;
  return [
    ...(sameAddress || command.orderId === orderId ? [] : [`order (${orderId})`]),
    ...(command.currency === currency ? [] : [`currency (${currency})`]),
    ...(command.amountMinor === amountMinor || command.currency !== currency
      ? []
      : [`amount (${fromMinor(amountMinor, currency)})`]),
  ];
};

const confirm = (payment: ExistingPayment, confirmations: number | undefined, at: Date): PaymentEvent[] => {
  if (payment.confirmedAt !== undefined || payment.status === 'failed' || payment.status === 'refunded') return [];
  return [
    {
      type: 'PaymentConfirmed',
      data: { ...(confirmations !== undefined && { confirmations }), at: at.toISOString() },
    },
    ...(payment.status === 'received' ? orphanedIfUnclaimed(payment, at) : []),
  ];
};

/** Orphans a payment without an order at once, because no order will decide on it. */
const orphanedIfUnclaimed = (
  { merchantId, orderId, address }: Pick<ExistingPayment, 'merchantId' | 'orderId' | 'address'>,
  at: Date,
): PaymentEvent[] => {
  if (merchantId !== UNCLAIMED_MERCHANT) return [];
  const orphanReason = orderId === address ? 'unknown_address' : 'unknown_order';
  return [{ type: 'PaymentOrphaned', data: { orphanReason, at: at.toISOString() } }];
};

/** Ranks statuses. Outcomes arrive twice and out of order, by HTTP and from Kafka, so only one that ranks above the
 *  current status is recorded. A capture applies an orphan; only the cancellation of the order orphans an applied
 *  payment. */
const finality = (payment: Pick<ExistingPayment, 'status' | 'orphanReason'>): number => {
  switch (payment.status) {
    case 'received':
      return 0;
    case 'orphan':
      return payment.orphanReason === 'canceled' ? 3 : 1;
    case 'applied':
      return 2;
    case 'failed':
    case 'refunded':
      return 4;
    default:
      return unreachable(payment.status);
  }
};

const recordOutcome = (outcome: Outcome, payment: ExistingPayment): PaymentEvent[] => {
  if (finality(outcome) <= finality(payment)) return [];
  const at = outcome.at.toISOString();
  if (outcome.status === 'orphan')
    return [{ type: 'PaymentOrphaned', data: { orphanReason: outcome.orphanReason, at } }];
  const { orderId } = payment;
  const { appliedMinor, unappliedMinor } = outcome;
  return [
    {
      type: 'PaymentApplied',
      data: { orderId, appliedMinor: String(appliedMinor), unappliedMinor: String(unappliedMinor), at },
    },
  ];
};

const fail = (
  { failureReason, at }: Extract<PaymentCommand, { type: 'FailPayment' }>,
  payment: ExistingPayment,
): PaymentEvent[] => {
  switch (payment.status) {
    case 'failed':
      return [];
    case 'received':
      return [{ type: 'PaymentFailed', data: { failureReason: failureReason ?? 'dropped', at: at.toISOString() } }];
    case 'applied':
      return [{ type: 'PaymentFailed', data: { failureReason: failureReason ?? 'reorg', at: at.toISOString() } }];
    case 'orphan':
    case 'refunded':
      throw new AppError('payment_conflict', `a payment that is ${payment.status} cannot fail`);
    default:
      return unreachable(payment.status);
  }
};

const refund = ({ refundId, amountMinor, reason, at }: RefundPayment, payment: ExistingPayment): PaymentEvent[] => {
  if (payment.refundIds.includes(refundId)) return [];
  if (payment.status === 'received') {
    throw new AppError(
      'payment_conflict',
      'the payment is still pending: it can be refunded once it is applied or an orphan',
    );
  }
  if (payment.status === 'failed') {
    throw new AppError('payment_conflict', 'the payment failed: there is nothing to refund');
  }
  const left = refundableMinor(payment);
  if (left === 0n) {
    throw new AppError('nothing_to_refund', 'the payment is already fully refunded');
  }
  const amount = amountMinor ?? left;
  if (amount <= 0n) throw refusedAmount('must be positive');
  if (amount < left && payment.refundIds.length >= MAX_REFUNDS)
    throw new AppError(
      'payment_conflict',
      `the payment already has ${MAX_REFUNDS} partial refunds: refund the whole remaining amount`,
    );
  if (amount > left) throw refusedAmount(`only ${fromMinor(left, payment.currency)} can still be refunded`);
  return [
    {
      type: 'PaymentRefunded',
      data: {
        refundId,
        amountMinor: String(amount),
        refundedTotalMinor: String(payment.refundedMinor + amount),
        ...(reason !== undefined && { reason }),
        at: at.toISOString(),
      },
    },
  ];
};

/** Bounds the events of a payment and its order. */
const MAX_REFUNDS = 100;

const refusedAmount = (message: string): AppError =>
  new AppError('invalid_request', `amount: ${message}`, { details: [{ path: 'amount', message }] });

export const paymentDecider: Decider<Payment, PaymentCommand, PaymentEvent> = {
  initial: { status: 'none' },
  decide,
  evolve,
};
