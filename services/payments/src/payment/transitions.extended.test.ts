import { readFileSync } from 'node:fs';
import { AppError, OrphanReason } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  addressRefund,
  cancelRefund,
  CHANGED_AT,
  ORDER_ID,
  receivePayment,
  REFUND_ID,
  reopenRefund,
  reportRefund,
  requestRefund,
  SECOND_REFUND_ID,
} from '../testing/jest-payment-events.ts';
import type { PaymentCommand, ReceivePayment } from './command.ts';
import { paymentDecider } from './payment.ts';
import { exists, type Payment, UNCLAIMED_MERCHANT } from './state.ts';

const receiveTen = (confirmed: boolean, merchantId?: string): ReceivePayment =>
  receivePayment({ confirmed, amountMinor: 10n, feeMinor: 0n, ...(merchantId !== undefined && { merchantId }) });

/** A payment to an address of no order. */
const receiveUnmatched = (confirmed: boolean): ReceivePayment => {
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  return { ...receiveTen(confirmed, UNCLAIMED_MERCHANT), orderId: address, address };
};

const OWNER = { merchantId: 'mer_01J0000000000000000000000P' };
const THIRD_REFUND_ID = 'rfd_01J0000000000000000000000F';

const REQUESTED_REFUND_ID = 'rfd_01J0000000000000000000000G';

const FIRST_COMMANDS: readonly ReceivePayment[] = [true, false].flatMap((confirmed) => [
  receiveTen(confirmed),
  receiveTen(confirmed, UNCLAIMED_MERCHANT),
  receiveUnmatched(confirmed),
]);

const LATER_COMMANDS: readonly PaymentCommand[] = [
  receiveTen(true),
  receiveTen(false),
  { type: 'ConfirmPayment', at: CHANGED_AT },
  { type: 'RecordOutcome', outcome: { status: 'applied', appliedMinor: 9n, unappliedMinor: 1n, at: CHANGED_AT } },
  // `unknown_address` is not a decision of an order.
  ...OrphanReason.options
    .filter((reason) => reason !== 'unknown_address')
    .map((orphanReason): PaymentCommand => ({
      type: 'RecordOutcome',
      outcome: { status: 'orphan', orphanReason, at: CHANGED_AT },
    })),
  { type: 'FailPayment', at: CHANGED_AT },
  { type: 'RefundPayment', refundId: REFUND_ID, amountMinor: 1n, at: CHANGED_AT },
  { type: 'RefundPayment', refundId: SECOND_REFUND_ID, what: 'all', at: CHANGED_AT },
  requestRefund(undefined, REQUESTED_REFUND_ID),
  addressRefund(REQUESTED_REFUND_ID),
  reportRefund(false, { refundId: REQUESTED_REFUND_ID }),
  reportRefund(true, { refundId: REQUESTED_REFUND_ID }),
  reopenRefund(REQUESTED_REFUND_ID),
  cancelRefund(REQUESTED_REFUND_ID),
  { type: 'AssignPayment', ...OWNER, reason: 'r', by: 'ana', at: CHANGED_AT },
  { type: 'AssignPayment', ...OWNER, orderId: ORDER_ID, reason: 'r', by: 'ana', at: CHANGED_AT },
  { type: 'ReturnPayment', refundId: THIRD_REFUND_ID, reason: 'r', by: 'ana', at: CHANGED_AT },
];

const decideOrRefuse = (command: PaymentCommand, payment: Payment) => {
  try {
    return paymentDecider.decide(command, payment);
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
};

const reasonOf = (payment: Payment): string => {
  const reason = exists(payment) && (payment.status === 'failed' ? payment.failureReason : payment.orphanReason);
  return reason && payment.status !== 'refunded' ? `\`${reason}\`` : '';
};

const nameOf = (payment: Payment): string => (exists(payment) ? `\`${payment.status}\`` : 'none');

/** The command as orders would send it: an outcome names the sighting of the money. */
const ofSighting = (command: PaymentCommand, payment: Payment): PaymentCommand =>
  command.type === 'RecordOutcome' && exists(payment)
    ? { ...command, outcome: { ...command.outcome, sighting: payment.sighting } }
    : command;

/** Every change of status that a sequence of commands can cause, as rows of the documented table. */
const possibleRows = (): string[] => {
  const rows = new Set<string>();
  const visited = new Set<string>();
  const unpossibleRowsd: Payment[] = [];
  const visit = (payment: Payment, command: PaymentCommand) => {
    let current = payment;
    for (const event of decideOrRefuse(ofSighting(command, payment), current)) {
      const next = fold(paymentDecider, current, [event]);
      if (next.status !== current.status)
        rows.add(`| ${[nameOf(current), command.type, nameOf(next), reasonOf(next)].join(' | ')} |`);
      current = next;
    }
    // The number of sightings does not matter: outcomes always name the last one. Nor does the ledger: no rule reads it.
    const key = JSON.stringify({ ...current, sighting: 1, postings: [] }, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    if (visited.has(key)) return;
    visited.add(key);
    unpossibleRowsd.push(current);
  };
  for (const command of FIRST_COMMANDS) visit(paymentDecider.initial, command);
  for (let payment = unpossibleRowsd.pop(); payment; payment = unpossibleRowsd.pop())
    for (const command of LATER_COMMANDS) visit(payment, command);
  return [...rows].sort();
};

const documentedRows = (): string[] => {
  const page = readFileSync(new URL('../../../../docs/order-states.md', import.meta.url), 'utf8');
  const section = page.split('\n## Payments')[1]!.split('\n## ')[0]!;
  return section.split('\n').filter((line) => /^\| (`|none)/.test(line));
};

test('docs/order-states.md lists exactly the possible changes of status', () => {
  expect(documentedRows()).toEqual(possibleRows());
});
