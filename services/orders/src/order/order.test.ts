import type { Metadata } from '@cpg/contracts';
import {
  after,
  cancel,
  capture,
  dueAt,
  existing,
  expireAt,
  fail,
  given,
  past,
  refund,
  remove,
} from '../testing/jest-deciding.ts';
import { createOrder, instruction, minutesAfterNoon, NOON, offer, orderCreated, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';

describe('creation', () => {
  test('an order with deposit instructions awaits payment', () => given().when(createOrder()).then(orderCreated()));
  test('an order without deposit instructions is initialized until they arrive', () => {
    given()
      .when(createOrder({ instructions: undefined }))
      .thenLike({ type: 'OrderCreated', data: { status: 'initialized' } });
    given(...past(createOrder({ instructions: undefined })))
      .when({ type: 'InstructOrder', instructions: [instruction], at: NOON })
      .thenLike({ type: 'OrderInstructed', data: { status: 'awaiting_payment' } });
  });
  test('deposit instructions that arrive again change nothing', () =>
    given(orderCreated())
      .when({ type: 'InstructOrder', instructions: [{ ...instruction, provider: 'other' }], at: NOON })
      .thenNothing());
  test('creating an order again changes nothing', () => given(orderCreated()).when(createOrder()).thenNothing());
  test('a command on an unknown order is refused', () => given().when(cancel).thenRefused('not_found'));
});

describe('cancel', () => {
  test('cancels an open order and orphans its payments', () => {
    const order = after(createOrder(), offer(1, 4_000_000n), cancel);
    expect(order.status).toBe('canceled');
    expect(existing(order).payments[0]).toMatchObject({ status: 'orphan', orphanReason: 'canceled', appliedMinor: 0n });
  });
  test('canceling an order again changes nothing', () =>
    given(...past(createOrder(), cancel))
      .when(cancel)
      .thenNothing());
  test('is refused without can_cancel', () =>
    given(orderCreated({ allow: { can_cancel: false } }))
      .when(cancel)
      .thenRefused('cancel_not_allowed'));
  test.each([
    ['paid', past(createOrder(), offer(1, 10_000_000n))],
    ['expired', past(createOrder(), expireAt(dueAt))],
  ])('an order that is %s is refused', (_, events) =>
    given(...events)
      .when(cancel)
      .thenRefused('order_state_conflict'),
  );
  test.each([
    ['a paid', 'paid cannot be canceled: it takes no more payments. To', [createOrder(), offer(1, 10_000_000n)]],
    ['a reversed', 'reversed cannot be canceled. To', [createOrder(), offer(1, 10_000_000n), fail(1, 10_000_000n)]],
  ])('says of %s order whether it takes payments', (_, text, before) =>
    expect(() => orderDecider.decide(cancel, after(...before))).toThrow(
      `an order that is ${text} give money back, refund its payments`,
    ),
  );
});

describe('update', () => {
  test('changes metadata and deadline', () =>
    given(orderCreated())
      .when({
        type: 'UpdateOrder',
        rateLockMaxMinutes: 1_440,
        metadata: { table: 4 },
        expirationMinutes: 10,
        at: minutesAfterNoon(30),
      })
      .thenLike({
        type: 'OrderUpdated',
        data: { metadata: { table: 4 }, expiresAt: minutesAfterNoon(40).toISOString() },
      }));
  test.each<[string, object | undefined, object, object]>([
    ['sets and keeps names', { a: 1, b: 2 }, { b: 3, c: 4 }, { a: 1, b: 3, c: 4 }],
    ['removes a name with null', { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ['ignores null for a name that is not there', { a: 1 }, { b: null }, { a: 1 }],
    ['replaces an object as a whole', { a: { x: 1 } }, { a: { y: null } }, { a: { y: null } }],
    ['keeps a null of the creation', { a: null }, { b: 1 }, { a: null, b: 1 }],
    ['keeps all names if there is none to change', { a: 1 }, {}, { a: 1 }],
    ['starts with none', undefined, { a: 1 }, { a: 1 }],
    ['may leave none', { a: 1 }, { a: null }, {}],
  ])('merges metadata: %s', (_, before, changes, merged) => {
    const create = createOrder(before && { metadata: before as Metadata });
    const update = { type: 'UpdateOrder', rateLockMaxMinutes: 1_440, metadata: changes as Metadata, at: NOON } as const;
    expect(existing(after(create, update)).metadata).toEqual(merged);
  });
  test('limits metadata after the merge', () => {
    const ofBytes = (bytes: number) => 'x'.repeat(bytes - '{"a":"","b":""}'.length);
    const change = (b: string | null): OrderCommand => ({
      type: 'UpdateOrder',
      rateLockMaxMinutes: 1_440,
      metadata: { b },
      at: NOON,
    });
    const order = orderCreated({ metadata: { a: 'é', b: 'x'.repeat(16_000) } });
    given(order)
      .when(change(ofBytes(16_384 - 2)))
      .thenLike({ type: 'OrderUpdated' });
    given(order)
      .when(change(ofBytes(16_384 - 1)))
      .thenRefused('invalid_request');
    const decided = () =>
      orderDecider.decide(change(ofBytes(16_384 - 1)), orderDecider.evolve(orderDecider.initial, order));
    expect(decided).toThrow(
      'metadata: has 16385 bytes of JSON after the merge. The limit is 16384. Set names to null to remove them',
    );
    given(order)
      .when(change(null))
      .thenLike({ type: 'OrderUpdated', data: { metadata: { a: 'é' } } });
  });
  test('is refused without can_update', () =>
    given(orderCreated({ allow: { can_update: false } }))
      .when({ type: 'UpdateOrder', rateLockMaxMinutes: 1_440, metadata: {}, at: NOON })
      .thenRefused('update_not_allowed'));
  test('is refused after 1,000 changes', () => {
    const update: OrderCommand = { type: 'UpdateOrder', rateLockMaxMinutes: 1_440, metadata: {}, at: NOON };
    const often = past(createOrder(), ...Array<OrderCommand>(999).fill(update));
    given(...often)
      .when(update)
      .thenLike({ type: 'OrderUpdated' });
    given(...often, ...past(createOrder(), update).slice(1))
      .when(update)
      .thenRefused('update_not_allowed');
    given(...often, ...past(createOrder(), update).slice(1))
      .when({ type: 'AdvanceTime', minutes: 1, at: NOON })
      .thenRefused('update_not_allowed');
  });
  test('changes the deadline only of an open order', () =>
    given(...past(createOrder(), cancel))
      .when({ type: 'UpdateOrder', rateLockMaxMinutes: 1_440, expirationMinutes: 10, at: NOON })
      .thenRefused('order_state_conflict'));
});

describe('deletion', () => {
  test('deletes an order without payments', () =>
    given(orderCreated()).when(remove).thenLike({ type: 'OrderDeleted' }));
  test('deletes a paid order', () =>
    given(...past(createOrder(), offer(1, 10_000_000n)))
      .when(remove)
      .thenLike({ type: 'OrderDeleted' }));
  test.each([
    ['a partial payment', past(createOrder(), offer(1, 4_000_000n))],
    ['a held payment', past(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n))],
    ['an orphan that was not refunded', past(createOrder(), cancel, offer(1, 4_000_000n))],
    ['a part that came before the deadline', past(createOrder(), offer(1, 4_000_000n), expireAt(dueAt))],
    [
      'such a part, refunded in part',
      past(createOrder(), offer(1, 4_000_000n), expireAt(dueAt), refund(1, 1_000_000n)),
    ],
    ['a surplus that is due back', past(createOrder(), offer(1, 14_000_000n))],
    [
      'a part that a reversal left',
      past(createOrder(), offer(1, 4_000_000n), offer(2, 6_000_000n), fail(2, 6_000_000n)),
    ],
  ])('one with %s is refused', (_, events) =>
    given(...events)
      .when(remove)
      .thenRefused('order_has_unsettled_funds'),
  );
  test.each([
    ['expired with a part', past(createOrder(), offer(1, 4_000_000n), expireAt(dueAt), refund(1, 4_000_000n))],
    ['was reversed', past(createOrder(), offer(1, 10_000_000n), refund(1, 10_000_000n))],
  ])('deletes an order that %s, once that is refunded', (_, events) =>
    given(...events)
      .when(remove)
      .thenLike({ type: 'OrderDeleted' }),
  );
  const held = createOrder({ allow: { partial_payments: false } });
  const notCanceled = createOrder({ allow: { partial_payments: false, can_cancel: false } });
  const [part, late] = [offer(1, 4_000_000n), offer(1, 10_000_000n, { at: minutesAfterNoon(61) })];
  const paidBack = refund(1, 4_000_000n);
  test.each<[advice: string, before: OrderCommand[], followed: OrderCommand[]]>([
    [
      'is not confirmed yet: wait until it is confirmed or has failed',
      [createOrder(), offer(1, 10_000_000n, { confirmed: false })],
      [offer(1, 10_000_000n)],
    ],
    [
      'is held until more money comes: capture the order, or cancel it and refund the payment',
      [held, part],
      [cancel, paidBack],
    ],
    ['is held until more money comes: capture the order', [notCanceled, part], [capture, offer(2, 6_000_000n)]],
    [
      'is held until more money comes: capture the order',
      [held, offer(2, 10_000_000n), fail(2, 10_000_000n), part],
      [capture, paidBack],
    ],
    ['is an orphan that is not refunded: refund it', [createOrder(), part, cancel], [paidBack]],
    [
      'is an orphan that is not refunded: capture the order, or refund the payment',
      [createOrder(), expireAt(dueAt), late],
      [capture],
    ],
    [
      'is applied to an order that is not paid: wait until the order is paid, or refund the payment',
      [createOrder(), part],
      [offer(2, 6_000_000n)],
    ],
    [
      'is applied to an order that is partially_paid_expired: refund the payment',
      [createOrder(), part, expireAt(dueAt)],
      [paidBack],
    ],
    [
      'is applied to an order that is reversed: refund the payment',
      [createOrder(), part, offer(2, 6_000_000n), fail(2, 6_000_000n)],
      [paidBack],
    ],
    ['has a surplus of 4.000000 USDC that is due back: refund it', [createOrder(), offer(1, 14_000_000n)], [paidBack]],
  ])('%s: then the order can be deleted', (advice, before, followed) => {
    const refused = () => orderDecider.decide(remove, after(...before));
    expect(refused).toThrow(new RegExp(`^payment ${paymentId(1)} ${advice}$`));
    expect(orderDecider.decide(remove, after(...before, ...followed))).toMatchObject([{ type: 'OrderDeleted' }]);
  });
  test('refuses every command after a deletion', () =>
    given(...past(createOrder(), remove))
      .when(cancel)
      .thenRefused('not_found'));
});
