import {
  applied,
  cancel,
  confirmed,
  decisions,
  dueAt,
  expireAt,
  expired,
  fail,
  failed,
  orphaned,
  paid,
  received,
} from '../testing/jest-deciding.ts';
import { createOrder, instruction, minutesAfterNoon, NOON, offer, payment, paymentId } from '../testing/orders.ts';

const inWhole = createOrder({ allow: { partial_payments: false } });

describe('an offered payment', () =>
  decisions({
    'of the exact amount settles the order': {
      given: [createOrder()],
      when: offer(1, 10_000_000n),
      then: [
        received,
        applied({
          allocations: [{ appliedMinor: '10000000', unappliedMinor: '0' }],
          status: 'paid',
          reason: 'payment_settled',
        }),
        paid,
      ],
    },
    'of a smaller amount makes the order partially paid': {
      given: [createOrder()],
      when: offer(1, 4_000_000n),
      then: [received, applied({ status: 'partially_paid' })],
    },
    'settles the order together with earlier payments': {
      given: [createOrder(), offer(1, 4_000_000n)],
      when: offer(2, 6_000_000n),
      order: { status: 'paid', remaining: 0n },
    },
    'changes nothing when it is offered again': {
      given: [createOrder(), offer(1, 4_000_000n)],
      when: offer(1, 4_000_000n),
      then: [],
    },
    'is recorded while unconfirmed': {
      given: [createOrder()],
      when: offer(1, 10_000_000n, { confirmed: false }),
      then: [received],
    },
    'is applied once it is confirmed': {
      given: [createOrder(), offer(1, 10_000_000n, { confirmed: false })],
      when: offer(1, 10_000_000n),
      then: [confirmed, applied(), paid],
    },
    'is held without partial_payments while it does not settle the order': {
      given: [inWhole],
      when: offer(1, 4_000_000n),
      then: [received],
    },
    'is applied without partial_payments together with the held ones as soon as they settle the order': {
      given: [inWhole, offer(1, 4_000_000n)],
      when: offer(2, 6_000_000n),
      then: [
        received,
        applied({ allocations: [{ paymentId: paymentId(1) }, { paymentId: paymentId(2) }], status: 'paid' }),
        paid,
      ],
    },
  }));

const block = { height: 7, hash: '0x7a' };

describe('the block of an offered payment', () => {
  const elsewhere = { height: 8, hash: '0x8b' };
  const change = { blockChanges: 2, blockChangedAt: minutesAfterNoon(2).toISOString(), confirmations: 1 };
  const inBlock = offer(1, 4_000_000n, { confirmed: false, block, confirmations: 1 });
  const moved = offer(1, 4_000_000n, { confirmed: false, block: elsewhere, ...change });

  decisions({
    'is that of its last report': {
      given: [createOrder(), inBlock],
      when: moved,
      order: { payments: [{ block: elsewhere, updatedAt: change.blockChangedAt }] },
    },
    'is that of its last report, also if the order has no earlier one': {
      given: [createOrder()],
      when: moved,
      order: { payments: [{ block: elsewhere, updatedAt: change.blockChangedAt }] },
    },
    'does not go back to that of an earlier report': {
      given: [createOrder(), inBlock, moved],
      when: offer(1, 4_000_000n, { confirmed: false, block, confirmations: 1, blockChanges: 1 }),
      then: [],
    },
    'changes with the confirmation of the payment': {
      given: [createOrder(), inBlock],
      when: offer(1, 4_000_000n, { block: elsewhere, ...change }),
      then: [{ type: 'OrderPaymentBlockChanged', data: { block: elsewhere, blockChanges: 2 } }, confirmed, applied()],
    },
    'is not confirmed by a confirmation in an earlier block that arrives late': {
      given: [createOrder(), inBlock, moved],
      when: offer(1, 4_000_000n, { block, confirmations: 5, blockChanges: 1 }),
      then: [],
    },
  });
});

describe('a held payment whose block leaves the chain', () => {
  const ofBlock = { block, confirmations: 3, blockChanges: 1 };
  const again = { block: { height: 9, hash: '0x9a' }, blockChanges: 3 };
  const held = [inWhole, offer(1, 4_000_000n, ofBlock)];
  const lost = offer(1, 4_000_000n, { confirmed: false, unconfirmed: true, confirmations: 0, blockChanges: 2 });
  const mined = offer(1, 4_000_000n, { confirmed: false, unconfirmed: true, confirmations: 1, ...again });
  const rest = offer(2, 6_000_000n);
  const confirmedIn = (blockChanges: number, minute: number) =>
    offer(1, 4_000_000n, {
      block: { height: 6 + blockChanges, hash: `0x${blockChanges}` },
      confirmations: 3,
      blockChanges,
      confirmedAt: minutesAfterNoon(minute).toISOString(),
    });

  decisions({
    'does not pay the order with the rest of the money': {
      given: [...held, lost],
      when: rest,
      order: {
        status: 'awaiting_payment',
        payments: [
          { status: 'received', confirmedAt: undefined },
          { status: 'received', confirmedAt: expect.any(String) as string },
        ],
      },
    },
    'does not pay it when another block contains it': {
      given: [...held, lost, rest],
      when: mined,
      order: { status: 'awaiting_payment' },
    },
    'pays it once it is confirmed in another block': {
      given: [...held, lost, rest, mined],
      when: offer(1, 4_000_000n, { confirmations: 3, ...again }),
      order: { status: 'paid' },
    },
    'is learned from the report after the loss, if that of the loss was missed': {
      given: [...held, mined, lost],
      when: rest,
      order: { status: 'awaiting_payment' },
    },
    'is confirmed anew by one report of another block and its confirmation': {
      given: [inWhole, confirmedIn(1, 0)],
      when: confirmedIn(3, 1),
      then: [{ type: 'OrderPaymentBlockChanged' }, confirmed],
    },
    'is confirmed anew once': {
      given: [inWhole, confirmedIn(1, 0), confirmedIn(3, 1)],
      when: confirmedIn(3, 1),
      then: [],
    },
    'is not confirmed anew by a later report of its block': {
      given: [inWhole, confirmedIn(1, 0)],
      when: confirmedIn(1, 5),
      then: [],
    },
    'is not confirmed anew by its first confirmation in another block': {
      given: [inWhole, confirmedIn(1, 0)],
      when: confirmedIn(2, 0),
      then: [{ type: 'OrderPaymentBlockChanged', data: { blockChanges: 2 } }],
    },
    'records that its confirmation does not count any more': {
      given: held,
      when: lost,
      then: [{ type: 'OrderPaymentBlockChanged', data: { unconfirmed: true, changedAt: NOON.toISOString() } }],
    },
    'records nothing about a confirmation that it did not have': {
      given: [createOrder(), offer(1, 4_000_000n, { block, confirmations: 1, blockChanges: 1, confirmed: false })],
      when: lost,
      then: [{ type: 'OrderPaymentBlockChanged', data: { unconfirmed: undefined } }],
    },
    'stays applied once the order applied it': {
      given: [createOrder(), offer(1, 10_000_000n, ofBlock)],
      when: offer(1, 10_000_000n, { confirmed: false, unconfirmed: true, confirmations: 0, blockChanges: 2 }),
      order: { status: 'paid', payments: [{ status: 'applied', appliedMinor: 10_000_000n }] },
    },
  });
});

describe('an offered payment that does not fit its order', () => {
  const seenInTime = { at: minutesAfterNoon(70), seenAt: minutesAfterNoon(59).toISOString() };
  const ahead = { at: minutesAfterNoon(55), seenAt: minutesAfterNoon(65).toISOString() };

  decisions({
    'above the remaining amount is applied in part without can_overpay': {
      given: [createOrder()],
      when: offer(1, 12_000_000n),
      order: { status: 'paid', payments: [{ appliedMinor: 10_000_000n, unappliedMinor: 2_000_000n }] },
    },
    'above the remaining amount is applied in full with can_overpay': {
      given: [createOrder({ allow: { can_overpay: true } })],
      when: offer(1, 12_000_000n),
      order: { remaining: 0n, payments: [{ appliedMinor: 12_000_000n, unappliedMinor: 0n }] },
    },
    'becomes an orphan of an order that is paid': {
      given: [createOrder(), offer(1, 10_000_000n)],
      when: offer(2, 1n),
      then: [received, orphaned('already_paid')],
    },
    'becomes an orphan of an order that is canceled': {
      given: [createOrder(), cancel],
      when: offer(2, 10_000_000n),
      then: [received, orphaned('canceled')],
    },
    'becomes an orphan of an order that expired before it': {
      given: [createOrder(), expireAt(dueAt)],
      when: offer(2, 10_000_000n, { at: minutesAfterNoon(61) }),
      then: [received, orphaned('late')],
    },
    'becomes an orphan in another currency': {
      given: [createOrder()],
      when: offer(2, 10_000_000n, { currency: 'BTC' }),
      then: [received, orphaned('wrong_currency')],
    },
    'becomes an orphan as a token that does not count as the currency': {
      given: [createOrder()],
      when: offer(2, 10_000_000n, { assetLabel: 'USDC.e', credited: false }),
      then: [received, orphaned('wrong_currency')],
    },
    'is applied if it was seen before the deadline and reported after it': {
      given: [createOrder(), expireAt(dueAt)],
      when: offer(1, 10_000_000n, seenInTime),
      order: { status: 'paid' },
    },
    'is applied if it was seen at the very deadline, and reported after it': {
      given: [createOrder(), expireAt(dueAt)],
      when: offer(1, 10_000_000n, { at: minutesAfterNoon(70), seenAt: dueAt.toISOString() }),
      order: { status: 'paid' },
    },
    'is not applied in part to an expired order that takes no partial payments': {
      given: [inWhole, expireAt(dueAt)],
      when: offer(1, 4_000_000n, { at: minutesAfterNoon(70), seenAt: NOON.toISOString() }),
      order: { status: 'expired', payments: [{ status: 'orphan', orphanReason: 'insufficient' }] },
    },
    'is applied in part to an expired order that takes partial payments': {
      given: [createOrder(), expireAt(dueAt)],
      when: offer(1, 4_000_000n, { at: minutesAfterNoon(70), seenAt: NOON.toISOString() }),
      order: { status: 'partially_paid_expired', payments: ['applied'] },
    },
    'is applied before the deadline although the clock of payments is ahead': {
      given: [createOrder()],
      when: offer(1, 10_000_000n, ahead),
      then: [{ type: 'OrderPaymentReceived', data: { payment: { seenAt: ahead.at.toISOString() } } }, applied(), paid],
    },
    'is applied after the deadline if it was reported before by a clock that was ahead': {
      given: [createOrder(), offer(1, 10_000_000n, { ...ahead, confirmed: false }), expireAt(dueAt)],
      when: offer(1, 10_000_000n, { ...ahead, at: minutesAfterNoon(70) }),
      then: [confirmed, applied(), paid],
    },
    'that failed before it was offered is not seen after its failure': {
      given: [createOrder()],
      when: {
        ...fail(1),
        payment: payment(1, 10_000_000n, { seenAt: minutesAfterNoon(10).toISOString() }),
      },
      then: [{ type: 'OrderPaymentReceived', data: { payment: { seenAt: NOON.toISOString() } } }, failed()],
    },
    'after the deadline expires the order, even if the timer is late': {
      given: [createOrder()],
      when: offer(1, 10_000_000n, { at: minutesAfterNoon(61) }),
      then: [expired, received, orphaned('late')],
    },
    'is held while the order has no deposit instructions, and then applied': {
      given: [createOrder({ instructions: undefined }), offer(1, 10_000_000n)],
      when: { type: 'InstructOrder', instructions: [instruction], at: NOON },
      then: [{ type: 'OrderInstructed' }, applied(), paid],
    },
  });
});

describe('an order with the maximum number of payments', () => {
  const payments = Array.from({ length: 250 }, (_, n) => offer(n + 1, 1n));
  const full = [createOrder(), ...payments];
  const renewing = [createOrder({ allow: { expiration_auto_renewal: true } }), ...payments];
  const late = { at: minutesAfterNoon(61) };

  decisions({
    'records no further payment that does not settle it': {
      given: full,
      when: offer(251, 9_999_749n),
      then: [],
    },
    'records no further payment that is unconfirmed': {
      given: full,
      when: offer(251, 10_000_000n, { confirmed: false }),
      then: [],
    },
    'records no further payment in another currency': {
      given: full,
      when: offer(251, 10_000_000n, { currency: 'BTC' }),
      then: [],
    },
    'records no failure of a further payment': {
      given: full,
      when: fail(251, 1n),
      then: [],
    },
    'applies a further payment that settles it': {
      given: full,
      when: offer(251, 9_999_750n),
      then: [received, applied(), paid],
    },
    'applies no more after it is settled': {
      given: [...full, offer(251, 9_999_750n)],
      when: offer(252, 10_000_000n),
      then: [],
    },
    'applies a further payment that was seen in time, also when it is confirmed after the deadline': {
      given: [...full, expireAt(dueAt)],
      when: offer(251, 10_000_000n, { at: minutesAfterNoon(70), seenAt: minutesAfterNoon(59).toISOString() }),
      order: { status: 'paid' },
    },
    'holds a further payment that settles it as soon as it may apply': {
      given: renewing,
      when: offer(251, 10_000_000n, late),
      then: [received],
    },
    'holds no further payment that does not settle it': {
      given: renewing,
      when: offer(251, 5_000_000n, late),
      then: [],
    },
    'still processes the payments that it has': {
      given: full,
      when: fail(7, 1n),
      then: [failed()],
    },
    'records the last payment below the maximum': {
      given: [createOrder(), ...payments.slice(1)],
      when: offer(1, 10_000_000n),
      then: [received, applied({ status: 'paid' }), paid],
    },
  });
});
