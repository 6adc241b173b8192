import { after, existing } from '../testing/jest-deciding.ts';
import { createOrder, NOON, offer, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { type ExistingOrder, inStatus } from './state.ts';

const create = createOrder();
const pay = offer(1, 10_000_000n);
const refund: OrderCommand = {
  type: 'RefundPayment',
  paymentId: paymentId(1),
  refundId: `rfd_${'0'.repeat(26)}`,
  refundedTotalMinor: 10_000_000n,
  refundedAt: NOON,
  at: NOON,
};

test('an order says when it last became paid, also after it was reversed', () => {
  expect(existing(after(create)).paidAt).toBeUndefined();
  const paid = existing(after(create, pay));
  expect(paid).toMatchObject({ status: 'paid', paidAt: paid.updatedAt });
  const reversed = existing(after(create, pay, refund));
  expect(reversed).toMatchObject({ status: 'reversed', paidAt: paid.paidAt });
  const again = existing(after(create, pay, refund, offer(2, 10_000_000n)));
  expect(again).toMatchObject({ status: 'paid', paidAt: again.updatedAt });
  expect(again.updatedAt > paid.updatedAt).toBe(true);
});

test('a paid order that stays paid keeps the time at which it was paid', () => {
  const paid = existing(after(create, pay));
  const later = inStatus(paid, { status: 'paid', reason: 'captured', at: '2026-02-01T00:00:00.000Z' });
  expect(later).toEqual({ ...paid, statusReason: 'captured' });
});

test('only an order with instructions can wait for payments', () => {
  const { instructions } = existing(after(create));
  const initialized = existing(after(createOrder({ instructions: undefined })));
  expect(initialized).toMatchObject({ status: 'initialized', instructions: [] });
  // @ts-expect-error An order that waits for its instructions has none.
  const impossible: ExistingOrder = { ...initialized, status: 'initialized', instructions };
  // @ts-expect-error A paid order says when it was paid.
  const unknown: ExistingOrder = { ...initialized, status: 'paid' };
  expect([impossible, unknown]).toHaveLength(2);
});

test('a payment keeps the time at which its rail confirmed it, whenever the order heard of it', () => {
  const confirmedAt = '2026-01-31T11:58:00.000Z';
  const heard = offer(1, 10_000_000n, { confirmedAt, reinstatedAt: '2026-01-31T11:59:00.000Z' });
  expect(existing(after(create, heard)).payments).toMatchObject([{ confirmedAt }]);
});
