import { fold } from '@cpg/event-sourcing/decider';
import { after, cancel, capture, dueAt, existing, expireAt, given, past, statuses } from '../testing/jest-deciding.ts';
import { createOrder, deposit, minutesAfterNoon, NOON, offer, orderCreated, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { remainingMinor } from './state.ts';
import { orderView } from './view.ts';

const refund = (n: number, refundedTotalMinor: bigint): OrderCommand => ({
  type: 'RefundPayment',
  paymentId: paymentId(n),
  refundId: `rfd_${'0'.repeat(26)}`,
  refundedTotalMinor,
  refundedAt: NOON,
  at: NOON,
});

describe('capture', () => {
  test('applies held payments whatever the capabilities are', () => {
    const order = after(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n), capture);
    expect(order.status).toBe('partially_paid');
    expect(statuses(order)).toEqual(['applied']);
  });
  test('applies late orphans of an expired order', () => {
    const late = [
      createOrder(),
      expireAt(dueAt),
      offer(1, 4_000_000n, { at: minutesAfterNoon(61) }),
      offer(2, 6_000_000n, { at: minutesAfterNoon(62) }),
    ];
    expect(after(...late.slice(0, 3), capture).status).toBe('partially_paid_expired');
    expect(after(...late, capture).status).toBe('paid');
  });
  test('applies no token that does not count as the currency', () => {
    const bridged = offer(1, 10_000_000n, { confirmed: false, assetLabel: 'USDC.e', credited: false });
    given(...past(createOrder(), bridged))
      .when(capture)
      .thenNothing();
    given(...past(createOrder(), offer(1, 10_000_000n, { assetLabel: 'USDC.e', credited: false })))
      .when(capture)
      .thenNothing();
    expect(after(createOrder(), offer(1, 10_000_000n, { assetLabel: 'USDC.e' })).status).toBe('paid');
  });
  test('applies a token that the order itself shows, though the table does not offer it any more', () => {
    const shown = { ...deposit('ethereum'), asset: 'eip155:1/erc20:0xold' };
    const retired = offer(1, 10_000_000n, { asset: shown.asset, credited: false });
    expect(after(createOrder({ instructions: [shown] }), retired).status).toBe('paid');
    expect(after(createOrder(), retired).status).toBe('awaiting_payment');
  });
  test('changes nothing without pending payments', () => given(orderCreated()).when(capture).thenNothing());
  test('leaves late orphans that the order does not need, however often it is repeated', () => {
    const late = past(
      createOrder(),
      expireAt(dueAt),
      offer(1, 10_000_000n, { at: minutesAfterNoon(61) }),
      offer(2, 6_000_000n, { at: minutesAfterNoon(62) }),
      capture,
    );
    const order = fold(orderDecider, orderDecider.initial, late);
    expect(existing(order).payments.map(({ status, orphanReason }) => [status, orphanReason])).toEqual([
      ['applied', undefined],
      ['orphan', 'late'],
    ]);
    given(...late)
      .when(capture)
      .thenNothing();
  });
  test('applies the rest of a late orphan that was refunded in part', () => {
    const late = [
      createOrder(),
      expireAt(dueAt),
      offer(1, 8_000_000n, { at: minutesAfterNoon(61) }),
      refund(1, 3_000_000n),
      offer(2, 6_000_000n, { at: minutesAfterNoon(62) }),
      capture,
    ];
    const order = existing(after(...late));
    expect(order.status).toBe('paid');
    expect(orderView(order).payments).toMatchObject([
      { status: 'applied', applied_amount: '5.000000', refunded_amount: '3.000000' },
      { status: 'applied', applied_amount: '5.000000', unapplied_amount: '1.000000' },
    ]);
    const alone = existing(after(...late.slice(0, 4), capture));
    expect([alone.status, remainingMinor(alone)]).toEqual(['partially_paid_expired', 5_000_000n]);
  });
  test('shows what is due for refund of a late orphan that was refunded in part', () => {
    const order = existing(
      after(
        createOrder(),
        expireAt(dueAt),
        offer(1, 15_000_000n, { at: minutesAfterNoon(61) }),
        refund(1, 3_000_000n),
        capture,
      ),
    );
    expect(orderView(order).payments).toMatchObject([
      { applied_amount: '10.000000', unapplied_amount: '2.000000', refunded_amount: '3.000000' },
    ]);
  });
  test('leaves a payment that no block contains', () => {
    const sighted = [createOrder(), offer(1, 10_000_000n, { confirmed: false, confirmations: 0 })];
    given(...past(...sighted))
      .when(capture)
      .thenNothing();
    const block = { height: 7, hash: '0x7a' };
    const mined = offer(1, 10_000_000n, { confirmed: false, confirmations: 1, block, blockChanges: 1 });
    const lost = offer(1, 10_000_000n, { confirmed: false, confirmations: 0, blockChanges: 2 });
    expect(after(...sighted, mined, capture).status).toBe('paid');
    expect(after(...sighted, mined, lost, capture).status).toBe('awaiting_payment');
  });
  test('applies an unconfirmed payment of a rail that counts no confirmations', () =>
    expect(after(createOrder(), offer(1, 10_000_000n, { confirmed: false }), capture).status).toBe('paid'));
  test('marks the only payment that the paid order no longer needs as an orphan', () =>
    given(...past(createOrder(), ...[1, 2].map((n) => offer(n, 10_000_000n, { confirmed: false }))))
      .when(capture)
      .thenLike(
        { type: 'OrderPaymentsApplied', data: { allocations: [{ paymentId: paymentId(1) }] } },
        { type: 'OrderPaid' },
        { type: 'OrderPaymentsOrphaned', data: { paymentIds: [paymentId(2)], orphanReason: 'already_paid' } },
      ));
  test('a confirmation after the capture is still recorded', () =>
    given(...past(createOrder(), offer(1, 10_000_000n, { confirmed: false }), capture))
      .when(offer(1, 10_000_000n, { confirmations: 2 }))
      .thenLike({ type: 'OrderPaymentConfirmed', data: { confirmations: 2 } }));
  test('leaves a paid order and its orphans as they are', () => {
    for (const can_overpay of [true, false])
      given(...past(createOrder({ allow: { can_overpay } }), offer(1, 10_000_000n), offer(2, 3_000_000n)))
        .when(capture)
        .thenNothing();
  });
  test('leaves money of another currency', () =>
    given(...past(createOrder(), offer(1, 10_000_000n, { currency: 'BTC' })))
      .when(capture)
      .thenNothing());
  test('is refused before the order has deposit instructions', () =>
    given(...past(createOrder({ instructions: undefined }), offer(1, 10_000_000n)))
      .when(capture)
      .thenRefused('order_state_conflict'));
  test('is refused for a canceled order', () =>
    given(...past(createOrder(), cancel))
      .when(capture)
      .thenRefused('order_state_conflict'));
});
