import { AppError, fromMinor, type PaymentEvent, sightingOf, unreachable } from '@cpg/contracts';
import { type Decider, fold } from '@cpg/event-sourcing/decider';
import type { Outcome, PaymentCommand, ReceivePayment } from './command.ts';
import { claimRefund, issueRefundClaim } from './refund-claim.ts';
import {
  addressRefund,
  cancelPendingRefunds,
  cancelRefund,
  reopenRefund,
  reportRefund,
  requestRefund,
} from './refund-request.ts';
import { refund } from './refund.ts';
import { evolve, type ExistingPayment, exists, type Payment } from './state.ts';
import { assign, orphanWithoutOrder, returnToSender } from './unclaimed.ts';

const decide = (command: PaymentCommand, payment: Payment): PaymentEvent[] => {
  if (command.type === 'ReceivePayment') return receive(command, payment);
  if (!exists(payment)) throw new AppError('not_found', 'the payment does not exist');
  switch (command.type) {
    case 'ConfirmPayment':
      if (payment.status === 'failed')
        throw new AppError(
          'payment_conflict',
          `the payment failed (${payment.failureReason}): it can be confirmed when its rail reports it again`,
        );
      return confirmAfter(payment, command.block ? changeBlock(payment, { ...command, confirmed: true }) : [], command);
    case 'RecordOutcome':
      return recordOutcome(command.outcome, payment);
    case 'FailPayment':
      return fail(command, payment);
    case 'RefundPayment':
      return refund(command, payment);
    case 'RequestRefund':
      return requestRefund(command, payment);
    case 'AddressRefund':
      return addressRefund(command, payment);
    case 'IssueRefundClaim':
      return issueRefundClaim(command, payment);
    case 'ClaimRefund':
      return claimRefund(command, payment);
    case 'ReportRefund':
      return reportRefund(command, payment);
    case 'ReopenRefund':
      return reopenRefund(command, payment);
    case 'CancelRefund':
      return cancelRefund(command, payment);
    case 'AssignPayment':
      return assign(command, payment);
    case 'ReturnPayment':
      return returnToSender(command, payment);
    default:
      return unreachable(command);
  }
};

const receive = (command: ReceivePayment, payment: Payment): PaymentEvent[] => {
  if (exists(payment)) {
    const differing = differences(command, payment);
    if (differing.length > 0) {
      // Providers' ids are shared by all merchants: one merchant must not learn of another's order or amount.
      if (command.merchantId !== payment.merchantId)
        throw new AppError('payment_conflict', 'this payment is already recorded: report another one with its own id');
      throw new AppError(
        'payment_conflict',
        `this payment was already reported with another ${differing.join(', another ')}`,
      );
    }
    if (payment.status === 'failed') return command.reinstates === false ? [] : reinstate(command, payment);
    const changes = changeBlock(payment, command);
    return command.confirmed ? confirmAfter(payment, changes, command) : changes;
  }
  const { type: _, reinstates: __, amountMinor, feeMinor, seenAt, at, ...data } = command;
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
  return [received, ...(command.confirmed ? orphanWithoutOrder(command, at) : [])];
};

/** The rail saw the money of a failed payment again, for example mined once more after a chain reorganization. Its
 *  order decides on it anew. */
const reinstate = (
  { confirmed, confirmations, block, at }: ReceivePayment,
  payment: ExistingPayment,
): PaymentEvent[] => {
  // An order that learns of this sighting by its failure learns of the block by the count.
  const blockChanges = block || payment.block ? (payment.blockChanges ?? 0) + 1 : payment.blockChanges;
  const reinstated: PaymentEvent = {
    type: 'PaymentReinstated',
    data: {
      sighting: sightingOf(payment) + 1,
      seenAt: payment.seenAt,
      confirmed,
      ...(confirmations !== undefined && { confirmations }),
      ...(block && { block }),
      ...(blockChanges !== undefined && { blockChanges }),
      at: at.toISOString(),
    },
  };
  return [reinstated, ...(confirmed ? orphanWithoutOrder(payment, at) : [])];
};

/** The fields that an order needs if it learns of the payment by this event. */
const seen = ({ seenAt, sighting, blockChanges }: ExistingPayment) => ({
  seenAt,
  ...(sighting !== undefined && { sighting }),
  ...(blockChanges !== undefined && { blockChanges }),
});

const differences = (command: ReceivePayment, payment: ExistingPayment): string[] => {
  const { orderId, reportedOrderId = orderId, address, currency, decimals, amountMinor } = payment;
  // The address may have been assigned to an order since: earlier payments to it keep their original order id.
  const sameAddress = address !== undefined && command.address === address;
  return [
    ...(sameAddress || [orderId, reportedOrderId].includes(command.orderId) ? [] : [`order (${reportedOrderId})`]),
    ...(command.currency === currency ? [] : [`currency (${currency})`]),
    ...(isSameAmount(command, payment) || command.currency !== currency
      ? []
      : [`amount (${fromMinor(amountMinor, decimals)})`]),
  ];
};

type Amount = Pick<ExistingPayment, 'amountMinor' | 'decimals'>;

const isSameAmount = (one: Amount, other: Amount): boolean =>
  one.amountMinor * 10n ** BigInt(other.decimals) === other.amountMinor * 10n ** BigInt(one.decimals);

/** Records a change of block. A payment that may still apply needs its confirmations again in the new block.
 *  A report without block and confirmations, as from a sandbox, says nothing about blocks. */
const changeBlock = (
  payment: ExistingPayment,
  { block, confirmations = 1, confirmed, at }: Pick<ReceivePayment, 'block' | 'confirmations' | 'confirmed' | 'at'>,
): PaymentEvent[] => {
  const isUnchanged = block?.hash === payment.block?.hash || (!block && confirmations !== 0);
  if (isUnchanged || payment.status === 'refunded') return [];
  const blockChanges = (payment.blockChanges ?? 0) + 1;
  const mayApply = payment.status === 'received' || payment.status === 'orphan';
  const unconfirmed = !confirmed && mayApply && payment.confirmedAt !== undefined;
  const changed = { ...(block && { block }), confirmations, ...seen(payment), blockChanges };
  return [
    {
      type: 'PaymentBlockChanged',
      data: { ...changed, ...(unconfirmed && { unconfirmed }), at: at.toISOString() },
    },
  ];
};

/** Confirms in the new block: the order ignores confirmations of an earlier block. */
const confirmAfter = (
  payment: ExistingPayment,
  changes: readonly PaymentEvent[],
  command: Pick<ReceivePayment, 'confirmations' | 'at'>,
): PaymentEvent[] => [
  ...changes,
  ...confirm(fold({ evolve }, payment as Payment, changes) as ExistingPayment, command),
];

const confirm = (
  payment: ExistingPayment,
  { confirmations, at }: Pick<ReceivePayment, 'confirmations' | 'at'>,
): PaymentEvent[] => {
  if (payment.confirmedAt !== undefined || payment.status === 'failed' || payment.status === 'refunded') return [];
  return [
    {
      type: 'PaymentConfirmed',
      data: { ...(confirmations !== undefined && { confirmations }), ...seen(payment), at: at.toISOString() },
    },
    ...(payment.status === 'received' ? orphanWithoutOrder(payment, at) : []),
  ];
};

/** Ranks statuses. Outcomes arrive twice and out of order, by HTTP and from Kafka, so only one that is about the same
 *  sighting and ranks above the current status is recorded, or one that applies more of the payment. A capture, or the
 *  failure of another payment, applies an orphan; only the cancellation of the order orphans an applied payment. */
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
  if (sightingOf(outcome) !== sightingOf(payment)) return [];
  const appliesMore =
    outcome.status === 'applied' && payment.status === 'applied' && outcome.appliedMinor > payment.appliedMinor;
  if (finality(outcome) <= finality(payment) && !appliesMore) return [];
  const at = outcome.at.toISOString();
  if (outcome.status === 'orphan')
    return [{ type: 'PaymentOrphaned', data: { orphanReason: outcome.orphanReason, at } }];
  const { orderId } = payment;
  const { appliedMinor, unappliedMinor, smallestPayableMinor: smallest } = outcome;
  return [
    {
      type: 'PaymentApplied',
      data: {
        orderId,
        appliedMinor: String(appliedMinor),
        unappliedMinor: String(unappliedMinor),
        ...(smallest !== undefined && { smallestPayableMinor: String(smallest) }),
        at,
      },
    },
  ];
};

const fail = (
  { failureReason, at }: Extract<PaymentCommand, { type: 'FailPayment' }>,
  payment: ExistingPayment,
): PaymentEvent[] => {
  const failed = (reason: string): PaymentEvent[] => [
    { type: 'PaymentFailed', data: { failureReason: failureReason ?? reason, ...seen(payment), at: at.toISOString() } },
    ...cancelPendingRefunds(payment, at),
  ];
  switch (payment.status) {
    case 'failed':
      return [];
    case 'received':
      return failed('dropped');
    case 'applied':
    case 'orphan':
      return failed('reorg');
    case 'refunded':
      throw new AppError('payment_conflict', `a payment that is ${payment.status} cannot fail`);
    default:
      return unreachable(payment.status);
  }
};

export const paymentDecider: Decider<Payment, PaymentCommand, PaymentEvent> = {
  initial: { status: 'none' },
  decide,
  evolve,
};
