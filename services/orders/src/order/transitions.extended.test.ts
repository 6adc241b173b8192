import { readFileSync } from 'node:fs';
import { AppError, sightingOf } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { createOrder, instruction, NOON, offer, payment, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { applicableMinor, type ExistingOrder, exists, hasLostPayment, isOpen, type Order } from './state.ts';

const at = NOON;
const EARLIER = '2026-01-30T12:00:00.000Z';
// A partial amount and the whole amount.
const [PART, WHOLE] = [6_000_000n, 10_000_000n];

const refund = (n: number, refundedTotalMinor: bigint): OrderCommand => {
  const refundId = `rfd_${'0'.repeat(26)}`;
  return { type: 'RefundPayment', paymentId: paymentId(n), refundId, refundedTotalMinor, refundedAt: at, at };
};

/** The clock does not move: `AdvanceTime` makes orders due. */
const COMMANDS: OrderCommand[] = [
  ...[PART, WHOLE].flatMap((amount, n): OrderCommand[] => [
    offer(n, amount, { at }),
    offer(n, amount, { at, confirmed: false }),
    offer(n, amount, { at, seenAt: EARLIER }),
    { type: 'FailPayment', payment: payment(n, amount), failureReason: 'reorg', failedAt: at, at },
    refund(n, amount),
    refund(n, amount / 2n),
  ]),
  offer(2, WHOLE, { at }),
  // The rail sees the money of a failed payment again.
  offer(1, WHOLE, { at, sighting: 2, reinstatedAt: at.toISOString() }),
  { type: 'InstructOrder', instructions: [instruction], at },
  { type: 'CapturePayments', at },
  { type: 'AcceptOrder', because: 'close enough', at },
  { type: 'CancelOrder', at },
  { type: 'AdvanceTime', minutes: 61, at },
  { type: 'AdvanceTime', minutes: 24 * 60, at },
  { type: 'RenewOrder', rates: {}, pricedMinor: 10_000_000n, at },
  { type: 'UpdateOrder', rateLockMaxMinutes: 1_440, expirationMinutes: 60, at },
  { type: 'ExpireOrder', at },
  { type: 'DeleteOrder', at },
];

const FIRST = [true, false].flatMap((partial_payments) =>
  [true, false].flatMap((expiration_auto_renewal) =>
    [[instruction], undefined].map((instructions) =>
      createOrder({ allow: { partial_payments, expiration_auto_renewal }, instructions }),
    ),
  ),
);

const decideOrRefuse = (command: OrderCommand, order: Order) => {
  try {
    return orderDecider.decide(command, order);
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
};

/** A key with everything that determines the next status. */
const keyOf = (order: ExistingOrder): string => {
  const days = (at.getTime() - Date.parse(order.expiresAt)) / (24 * 3_600_000);
  const payments = order.payments.map((each) => {
    const { paymentId: id, status, confirmedAt, orphanReason, appliedMinor, seenAt } = each;
    const isApplicable =
      ['received', 'orphan', 'failed'].includes(status) && applicableMinor(order, each) === each.amountMinor;
    const waits = status === 'received' && confirmedAt !== undefined;
    const isInTime = status === 'received' && seenAt <= order.expiresAt;
    return `${id} ${status} ${waits} ${isInTime} ${orphanReason === 'late'} ${appliedMinor} ${isApplicable} ${sightingOf(each)}`;
  });
  const { partial_payments, expiration_auto_renewal } = order.capabilities;
  const clock = isOpen(order) ? [expiration_auto_renewal, days >= 0, days >= 1] : [];
  return [
    order.status,
    order.acceptedShortfallMinor,
    hasLostPayment(order),
    partial_payments,
    ...clock,
    ...payments.sort(),
  ].join(',');
};

const nameOf = (order: Order): string => (exists(order) ? `\`${order.status}\`` : order.status);
const reasonOf = (order: Order): string => (exists(order) ? `\`${order.statusReason}\`` : '');

/** Every change of status that a sequence of commands can cause, as rows of the table. */
const explore = (): string[] => {
  const rows = new Set<string>();
  const seen = new Set<string>();
  const open: Order[] = [];
  const follow = (order: Order, command: OrderCommand) => {
    let current = order;
    for (const event of decideOrRefuse(command, order)) {
      const next = fold(orderDecider, current, [event]);
      if (next.status !== current.status)
        rows.add(`| ${[nameOf(current), `${command.type}`, nameOf(next), reasonOf(next)].join(' | ')} |`);
      current = next;
    }
    if (!exists(current) || seen.has(keyOf(current))) return;
    seen.add(keyOf(current));
    open.push(current);
  };
  for (const command of FIRST) follow(orderDecider.initial, command);
  for (let order = open.pop(); order; order = open.pop()) for (const command of COMMANDS) follow(order, command);
  return [...rows].sort();
};

const documented = (): string[] => {
  const page = readFileSync(new URL('../../../../docs/order-states.md', import.meta.url), 'utf8');
  const section = page.split('## Orders')[1]!.split('\n## ')[0]!;
  return section.split('\n').filter((line) => /^\| (`|none)/.test(line));
};

test('docs/order-states.md lists exactly the changes of status that can happen', () => {
  expect(documented()).toEqual(explore());
});
