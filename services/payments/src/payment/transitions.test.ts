import { readFileSync } from 'node:fs';
import { OrphanReason } from '@cpg/contracts';
import { AppError, fold } from '@cpg/core';
import type { PaymentCommand, ReceivePayment } from './command.ts';
import { paymentDecider } from './payment.ts';
import { exists, type Payment, UNCLAIMED_MERCHANT } from './state.ts';

const at = new Date('2026-01-31T12:00:00.000Z');

const receive = (confirmed: boolean, merchantId = 'mer_01J0000000000000000000000C'): ReceivePayment => ({
  type: 'ReceivePayment',
  paymentId: 'pay_01J0000000000000000000000B',
  merchantId,
  orderId: 'ord_01J0000000000000000000000A',
  rail: 'gateway_pay',
  providerId: 'tx-1',
  currency: 'USDC',
  amountMinor: 10n,
  feeMinor: 0n,
  feeSchedule: '1',
  confirmed,
  seenAt: at,
  at,
});

/** A payment to an address of no order. */
const unmatched = (confirmed: boolean): ReceivePayment => {
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  return { ...receive(confirmed, UNCLAIMED_MERCHANT), orderId: address, address };
};

const FIRST = [true, false].flatMap((confirmed) => [
  receive(confirmed),
  receive(confirmed, UNCLAIMED_MERCHANT),
  unmatched(confirmed),
]);

const COMMANDS: PaymentCommand[] = [
  receive(true),
  receive(false),
  { type: 'ConfirmPayment', at },
  { type: 'RecordOutcome', outcome: { status: 'applied', appliedMinor: 9n, unappliedMinor: 1n, at } },
  // No order ever decides `unknown_address`.
  ...OrphanReason.options
    .filter((reason) => reason !== 'unknown_address')
    .map((orphanReason): PaymentCommand => ({
      type: 'RecordOutcome',
      outcome: { status: 'orphan', orphanReason, at },
    })),
  { type: 'FailPayment', at },
  { type: 'RefundPayment', refundId: 'rfd_01J0000000000000000000000D', amountMinor: 1n, at },
  { type: 'RefundPayment', refundId: 'rfd_01J0000000000000000000000E', at },
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

/** Every change of status that a sequence of commands can cause, as rows of the documented table. */
const explore = (): string[] => {
  const rows = new Set<string>();
  const seen = new Set<string>();
  const unexplored: Payment[] = [];
  const visit = (payment: Payment, command: PaymentCommand) => {
    let current = payment;
    for (const event of decideOrRefuse(command, current)) {
      const next = fold(paymentDecider, current, [event]);
      if (next.status !== current.status)
        rows.add(`| ${[nameOf(current), command.type, nameOf(next), reasonOf(next)].join(' | ')} |`);
      current = next;
    }
    const key = JSON.stringify(current, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    if (seen.has(key)) return;
    seen.add(key);
    unexplored.push(current);
  };
  for (const command of FIRST) visit(paymentDecider.initial, command);
  for (let payment = unexplored.pop(); payment; payment = unexplored.pop())
    for (const command of COMMANDS) visit(payment, command);
  return [...rows].sort();
};

const documented = (): string[] => {
  const page = readFileSync(new URL('../../../../docs/order-states.md', import.meta.url), 'utf8');
  const section = page.split('\n## Payments')[1]!.split('\n## ')[0]!;
  return section.split('\n').filter((line) => /^\| (`|none)/.test(line));
};

test('docs/order-states.md lists exactly the possible changes of status', () => {
  expect(documented()).toEqual(explore());
});
