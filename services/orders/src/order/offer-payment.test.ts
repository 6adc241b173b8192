import { after, cancel, dueAt, existing, expireAt, given, past } from '../testing/jest-deciding.ts';
import {
  createOrder,
  instruction,
  minutesAfterNoon,
  NOON,
  offer,
  orderCreated,
  payment,
  paymentId,
} from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { remainingMinor } from './state.ts';

describe('an offered payment', () => {
  test('of the exact amount settles the order', () =>
    given(orderCreated())
      .when(offer(1, 10_000_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        {
          type: 'OrderPaymentsApplied',
          data: {
            allocations: [{ appliedMinor: '10000000', unappliedMinor: '0' }],
            status: 'paid',
            reason: 'payment_settled',
          },
        },
        { type: 'OrderPaid' },
      ));
  test('of a smaller amount makes the order partially paid', () =>
    given(orderCreated())
      .when(offer(1, 4_000_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsApplied', data: { status: 'partially_paid' } },
      ));
  test('settles the order together with earlier payments', () => {
    const order = after(createOrder(), offer(1, 4_000_000n), offer(2, 6_000_000n));
    expect(order.status).toBe('paid');
    expect(remainingMinor(existing(order))).toBe(0n);
  });
  test('changes nothing when it is offered again', () =>
    given(...past(createOrder(), offer(1, 4_000_000n)))
      .when(offer(1, 4_000_000n))
      .thenNothing());
  test('is recorded while unconfirmed, and applied once it is confirmed', () => {
    given(orderCreated())
      .when(offer(1, 10_000_000n, { confirmed: false }))
      .thenLike({ type: 'OrderPaymentReceived' });
    given(...past(createOrder(), offer(1, 10_000_000n, { confirmed: false })))
      .when(offer(1, 10_000_000n))
      .thenLike({ type: 'OrderPaymentConfirmed' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' });
  });
  test('is held without partial_payments until all held payments settle the order', () => {
    const small = past(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n));
    expect(small.map(({ type }) => type)).toEqual(['OrderCreated', 'OrderPaymentReceived']);
    given(...small)
      .when(offer(2, 6_000_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        {
          type: 'OrderPaymentsApplied',
          data: { allocations: [{ paymentId: paymentId(1) }, { paymentId: paymentId(2) }], status: 'paid' },
        },
        { type: 'OrderPaid' },
      );
  });
});

describe('the block of an offered payment', () => {
  const block = { height: 7, hash: '0x7a' };
  const elsewhere = { height: 8, hash: '0x8b' };
  const changed = { blockChanges: 2, blockChangedAt: minutesAfterNoon(2).toISOString(), confirmations: 1 };
  const received = offer(1, 4_000_000n, { confirmed: false, block, confirmations: 1 });

  test('is that of its last report', () => {
    const moved = offer(1, 4_000_000n, { confirmed: false, block: elsewhere, ...changed });
    expect(existing(after(createOrder(), received, moved)).payments).toMatchObject([
      { block: elsewhere, updatedAt: changed.blockChangedAt },
    ]);
    expect(existing(after(createOrder(), moved)).payments).toMatchObject([
      { block: elsewhere, updatedAt: changed.blockChangedAt },
    ]);
  });
  test('does not go back to that of an earlier report', () =>
    given(...past(createOrder(), received, offer(1, 4_000_000n, { confirmed: false, block: elsewhere, ...changed })))
      .when(offer(1, 4_000_000n, { confirmed: false, block, confirmations: 1, blockChanges: 1 }))
      .thenNothing());
  test('changes with the confirmation of the payment', () =>
    given(...past(createOrder(), received))
      .when(offer(1, 4_000_000n, { block: elsewhere, ...changed }))
      .thenLike(
        { type: 'OrderPaymentBlockChanged', data: { block: elsewhere, blockChanges: 2 } },
        { type: 'OrderPaymentConfirmed' },
        { type: 'OrderPaymentsApplied' },
      ));
  test('is not confirmed by a confirmation in an earlier block that arrives late', () => {
    const moved = offer(1, 4_000_000n, { confirmed: false, block: elsewhere, ...changed });
    given(...past(createOrder(), received, moved))
      .when(offer(1, 4_000_000n, { block, confirmations: 5, blockChanges: 1 }))
      .thenNothing();
  });
});

describe('a held payment whose block leaves the chain', () => {
  const block = { height: 7, hash: '0x7a' };
  const held = [
    createOrder({ allow: { partial_payments: false } }),
    offer(1, 4_000_000n, { block, confirmations: 3, blockChanges: 1 }),
  ] as const;
  const lost = offer(1, 4_000_000n, { confirmed: false, unconfirmed: true, confirmations: 0, blockChanges: 2 });
  const rest = offer(2, 6_000_000n);

  test('does not pay the order with the rest of the money', () => {
    const order = existing(after(...held, lost, rest));
    expect(order.status).toBe('awaiting_payment');
    expect(order.payments).toMatchObject([
      { status: 'received', confirmedAt: undefined },
      { status: 'received', confirmedAt: expect.any(String) },
    ]);
  });
  test('pays it once it is confirmed in another block', () => {
    const again = { block: { height: 9, hash: '0x9a' }, blockChanges: 3 };
    const mined = offer(1, 4_000_000n, { confirmed: false, unconfirmed: true, confirmations: 1, ...again });
    expect(existing(after(...held, lost, rest, mined)).status).toBe('awaiting_payment');
    const confirmed = offer(1, 4_000_000n, { confirmations: 3, ...again });
    expect(existing(after(...held, lost, rest, mined, confirmed)).status).toBe('paid');
  });
  test('is learned from the report after the loss, if that of the loss was missed', () => {
    const again = { block: { height: 9, hash: '0x9a' }, blockChanges: 3, confirmations: 1 };
    const mined = offer(1, 4_000_000n, { confirmed: false, unconfirmed: true, ...again });
    expect(existing(after(...held, mined, lost, rest)).status).toBe('awaiting_payment');
  });
  test('is confirmed anew by one report of another block and its confirmation, and once', () => {
    const again = { block: { height: 9, hash: '0x9a' }, blockChanges: 3, confirmations: 3 };
    const confirmed = offer(1, 4_000_000n, { ...again, confirmedAt: minutesAfterNoon(1).toISOString() });
    const before = [createOrder({ allow: { partial_payments: false } })] as const;
    const first = offer(1, 4_000_000n, { block, confirmations: 3, blockChanges: 1, confirmedAt: NOON.toISOString() });
    given(...past(...before, first))
      .when(confirmed)
      .thenLike({ type: 'OrderPaymentBlockChanged' }, { type: 'OrderPaymentConfirmed' });
    given(...past(...before, first, confirmed))
      .when(confirmed)
      .thenNothing();
  });
  test('is not confirmed anew by a later report of its block, nor by its first confirmation in another one', () => {
    const before = [createOrder({ allow: { partial_payments: false } })] as const;
    const confirmedIn = (blockChanges: number, minute: number) =>
      offer(1, 4_000_000n, {
        block: { height: 6 + blockChanges, hash: `0x${blockChanges}` },
        confirmations: 3,
        blockChanges,
        confirmedAt: minutesAfterNoon(minute).toISOString(),
      });
    const first = past(...before, confirmedIn(1, 0));
    given(...first)
      .when(confirmedIn(1, 5))
      .thenNothing();
    given(...first)
      .when(confirmedIn(2, 0))
      .thenLike({ type: 'OrderPaymentBlockChanged', data: { blockChanges: 2 } });
  });
  test('records that its confirmation does not count any more only if it had one', () => {
    const unconfirmed = offer(1, 4_000_000n, { block, confirmations: 1, blockChanges: 1, confirmed: false });
    given(...past(createOrder(), unconfirmed))
      .when(lost)
      .thenLike({ type: 'OrderPaymentBlockChanged', data: { unconfirmed: undefined } });
    given(...past(...held))
      .when(lost)
      .thenLike({ type: 'OrderPaymentBlockChanged', data: { unconfirmed: true, changedAt: NOON.toISOString() } });
  });
  test('stays applied once the order applied it', () => {
    const applied = [createOrder(), offer(1, 10_000_000n, { block, confirmations: 3, blockChanges: 1 })] as const;
    const lostLater = offer(1, 10_000_000n, {
      confirmed: false,
      unconfirmed: true,
      confirmations: 0,
      blockChanges: 2,
    });
    expect(existing(after(...applied, lostLater))).toMatchObject({
      status: 'paid',
      payments: [{ status: 'applied', appliedMinor: 10_000_000n }],
    });
  });
});

describe('an offered payment that does not fit its order', () => {
  test('above the remaining amount is applied in part without can_overpay', () => {
    const order = existing(after(createOrder(), offer(1, 12_000_000n)));
    expect(order.status).toBe('paid');
    expect(order.payments[0]).toMatchObject({ appliedMinor: 10_000_000n, unappliedMinor: 2_000_000n });
  });
  test('above the remaining amount is applied in full with can_overpay', () => {
    const order = existing(after(createOrder({ allow: { can_overpay: true } }), offer(1, 12_000_000n)));
    expect(order.payments[0]).toMatchObject({ appliedMinor: 12_000_000n, unappliedMinor: 0n });
    expect(remainingMinor(order)).toBe(0n);
  });
  test.each([
    ['already_paid', past(createOrder(), offer(1, 10_000_000n)), offer(2, 1n)],
    ['canceled', past(createOrder(), cancel), offer(2, 10_000_000n)],
    ['late', past(createOrder(), expireAt(dueAt)), offer(2, 10_000_000n, { at: minutesAfterNoon(61) })],
    ['wrong_currency', past(createOrder()), offer(2, 10_000_000n, { currency: 'BTC' })],
    ['wrong_currency', past(createOrder()), offer(2, 10_000_000n, { assetLabel: 'USDC.e', credited: false })],
  ])('becomes an orphan: %s', (orphanReason, events, command) =>
    given(...events)
      .when(command)
      .thenLike({ type: 'OrderPaymentReceived' }, { type: 'OrderPaymentsOrphaned', data: { orphanReason } }),
  );
  test('is applied if it was seen before the deadline and reported after it', () => {
    const order = after(
      createOrder(),
      expireAt(dueAt),
      offer(1, 10_000_000n, { at: minutesAfterNoon(70), seenAt: minutesAfterNoon(59).toISOString() }),
    );
    expect(order.status).toBe('paid');
  });
  test('is applied if it was seen at the very deadline, and reported after it', () => {
    const seenAt = dueAt.toISOString();
    const seen = (at: number) => offer(1, 10_000_000n, { at: minutesAfterNoon(at), seenAt });
    expect(after(createOrder(), expireAt(dueAt), seen(70)).status).toBe('paid');
  });
  test('is not applied in part to an expired order that takes no partial payments', () => {
    const inTime = offer(1, 4_000_000n, { at: minutesAfterNoon(70), seenAt: NOON.toISOString() });
    const expired = (partial_payments: boolean) =>
      existing(after(createOrder({ allow: { partial_payments } }), expireAt(dueAt), inTime));
    expect(expired(false)).toMatchObject({
      status: 'expired',
      payments: [{ status: 'orphan', orphanReason: 'insufficient' }],
    });
    expect(expired(true)).toMatchObject({ status: 'partially_paid_expired', payments: [{ status: 'applied' }] });
  });
  test('is applied before the deadline although the clock of payments is ahead', () => {
    const ahead = { at: minutesAfterNoon(55), seenAt: minutesAfterNoon(65).toISOString() };
    given(orderCreated())
      .when(offer(1, 10_000_000n, ahead))
      .thenLike(
        { type: 'OrderPaymentReceived', data: { payment: { seenAt: ahead.at.toISOString() } } },
        { type: 'OrderPaymentsApplied' },
        { type: 'OrderPaid' },
      );
    given(...past(createOrder(), offer(1, 10_000_000n, { ...ahead, confirmed: false }), expireAt(dueAt)))
      .when(offer(1, 10_000_000n, { ...ahead, at: minutesAfterNoon(70) }))
      .thenLike({ type: 'OrderPaymentConfirmed' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' });
  });
  test('that failed before it was offered is not seen after its failure', () =>
    given(orderCreated())
      .when({
        type: 'FailPayment',
        payment: payment(1, 10_000_000n, { seenAt: minutesAfterNoon(10).toISOString() }),
        failureReason: 'reorg',
        failedAt: NOON,
        at: NOON,
      })
      .thenLike(
        { type: 'OrderPaymentReceived', data: { payment: { seenAt: NOON.toISOString() } } },
        { type: 'OrderPaymentFailed' },
      ));
  test('after the deadline expires the order, even if the timer is late', () =>
    given(orderCreated())
      .when(offer(1, 10_000_000n, { at: minutesAfterNoon(61) }))
      .thenLike(
        { type: 'OrderExpired' },
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsOrphaned', data: { orphanReason: 'late' } },
      ));
  test('is held while the order has no deposit instructions', () => {
    const early = past(createOrder({ instructions: undefined }), offer(1, 10_000_000n));
    given(...early)
      .when({ type: 'InstructOrder', instructions: [instruction], at: NOON })
      .thenLike({ type: 'OrderInstructed' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' });
  });
});

describe('an order with the maximum number of payments', () => {
  const payments = Array.from({ length: 250 }, (_, n) => offer(n + 1, 1n));
  const fail = (n: number): OrderCommand => ({
    type: 'FailPayment',
    payment: payment(n, 1n),
    failureReason: 'reorg',
    failedAt: NOON,
    at: NOON,
  });
  const full = past(createOrder(), ...payments);

  test('records no further payment that does not settle it', () => {
    given(...full)
      .when(offer(251, 9_999_749n))
      .thenNothing();
    given(...full)
      .when(offer(251, 10_000_000n, { confirmed: false }))
      .thenNothing();
    given(...full)
      .when(offer(251, 10_000_000n, { currency: 'BTC' }))
      .thenNothing();
    given(...full)
      .when(fail(251))
      .thenNothing();
  });
  test('applies a further payment that settles it, and then no more', () => {
    given(...full)
      .when(offer(251, 9_999_750n))
      .thenLike({ type: 'OrderPaymentReceived' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' });
    given(...past(createOrder(), ...payments, offer(251, 9_999_750n)))
      .when(offer(252, 10_000_000n))
      .thenNothing();
  });
  test('applies a further payment that was seen in time, also when it is confirmed after the deadline', () =>
    expect(
      after(
        createOrder(),
        ...payments,
        expireAt(dueAt),
        offer(251, 10_000_000n, { at: minutesAfterNoon(70), seenAt: minutesAfterNoon(59).toISOString() }),
      ).status,
    ).toBe('paid'));
  test('holds a further payment that settles it as soon as it may apply', () => {
    const renewing = createOrder({ allow: { expiration_auto_renewal: true } });
    given(...past(renewing, ...payments))
      .when(offer(251, 10_000_000n, { at: minutesAfterNoon(61) }))
      .thenLike({ type: 'OrderPaymentReceived' });
    given(...past(renewing, ...payments))
      .when(offer(251, 5_000_000n, { at: minutesAfterNoon(61) }))
      .thenNothing();
  });
  test('still processes the payments that it has', () =>
    given(...full)
      .when(fail(7))
      .thenLike({ type: 'OrderPaymentFailed' }));
  test('records the last payment below the maximum', () =>
    given(...past(createOrder(), ...payments.slice(1)))
      .when(offer(1, 10_000_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsApplied', data: { status: 'paid' } },
        { type: 'OrderPaid' },
      ));
});
