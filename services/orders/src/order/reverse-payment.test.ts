import type { OrderEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  applied,
  cancel,
  capture,
  confirmed,
  decisions,
  dueAt,
  existing,
  expireAt,
  fail,
  failed,
  given,
  paid,
  past,
  refund,
  reinstated,
  remove,
  renew,
} from '../testing/jest-deciding.ts';
import { createOrder, minutesAfterNoon, NOON, offer, payment, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { remainingMinor } from './state.ts';

const paidInFull = [createOrder(), offer(1, 10_000_000n)];
const paidInPart = [createOrder(), offer(1, 4_000_000n)];
const renewing = createOrder({ allow: { expiration_auto_renewal: true } });

describe('failure', () =>
  decisions({
    'reverses a paid order': { given: paidInFull, when: fail(1), order: { status: 'reversed' } },
    'lets a partly paid order await payment again': {
      given: paidInPart,
      when: fail(1),
      order: { status: 'awaiting_payment' },
    },
    'lets an order with one unit await payment again': {
      given: [createOrder(), offer(1, 1n)],
      when: fail(1),
      order: { status: 'awaiting_payment' },
    },
    'leaves an order partly paid that has other money': {
      given: [...paidInPart, offer(2, 1_000_000n)],
      when: fail(1),
      order: { status: 'partially_paid' },
    },
    'of a paid order is made up for by new money': {
      given: [...paidInFull, fail(1)],
      when: offer(2, 10_000_000n),
      order: { status: 'paid' },
    },
    'of a paid order is not made up for by less, which is held': {
      given: [...paidInFull, fail(1)],
      when: offer(2, 1_000_000n),
      order: { status: 'reversed' },
    },
    'that arrives before the payment keeps it from being applied': {
      given: [createOrder(), fail(1)],
      when: offer(1, 10_000_000n),
      order: { status: 'awaiting_payment', payments: ['failed'] },
    },
    'may be one of an orphan of the order': {
      given: [...paidInPart, cancel],
      when: fail(1),
      order: { status: 'canceled', payments: ['failed'] },
    },
    'of a held payment lets it count no longer': {
      given: [createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n)],
      when: fail(1),
      order: { status: 'awaiting_payment', payments: ['failed'] },
    },
    'that is repeated changes nothing': { given: [...paidInFull, fail(1)], when: fail(1), then: [] },
  }));

describe('refund', () =>
  decisions({
    'in part leaves the order paid, with nothing to pay': {
      given: paidInFull,
      when: refund(1, 1_000_000n),
      order: { status: 'paid', remaining: 0n, payments: [{ status: 'applied', refundedMinor: 1_000_000n }] },
    },
    'in full reverses the order': {
      given: paidInFull,
      when: refund(1, 10_000_000n),
      order: { status: 'reversed', payments: ['refunded'] },
    },
    'in full of the only applied payment makes the order await payment again': {
      given: paidInPart,
      when: refund(1, 4_000_000n),
      order: { status: 'awaiting_payment' },
    },
    'of the excess leaves the order paid': {
      given: [createOrder(), offer(1, 12_000_000n)],
      when: refund(1, 2_000_000n),
      order: { status: 'paid' },
      view: { payments: [{ applied_amount: '10.000000', unapplied_amount: '0.000000', refunded_amount: '2.000000' }] },
    },
    'in part does not lower what an order costs that is reversed later': {
      given: [...paidInFull, refund(1, 1_000_000n)],
      when: fail(1),
      order: { status: 'reversed', remaining: 10_000_000n },
    },
    'is due before an order with orphans can be deleted': {
      given: [...paidInPart, cancel],
      when: remove,
      then: 'order_has_unsettled_funds',
    },
    'of the orphans lets the order be deleted': {
      given: [...paidInPart, cancel, refund(1, 4_000_000n)],
      when: remove,
      then: [{ type: 'OrderDeleted' }],
    },
    'that is older and arrives late changes nothing': {
      given: [...paidInFull, refund(1, 3_000_000n)],
      when: refund(1, 1_000_000n),
      then: [],
    },
    'that is repeated changes nothing': { given: [...paidInFull, refund(1, 1n)], when: refund(1, 1n), then: [] },
  }));

describe('a partial refund before the order is paid', () => {
  const partly = [...paidInPart, refund(1, 1_000_000n)];
  const minuteLater = minutesAfterNoon(1);
  const msBefore = (ms: number) => new Date(minuteLater.getTime() - ms);
  const paidAMinuteLater = [createOrder(), offer(1, 10_000_000n, { at: minuteLater })];

  decisions({
    'takes its amount out of the applied sum, and records how much of the payment still counts': {
      given: paidInPart,
      when: refund(1, 1_000_000n),
      then: [{ type: 'OrderPaymentRefunded', data: { appliedMinor: '3000000', status: 'partially_paid' } }],
      order: { status: 'partially_paid', remaining: 7_000_000n },
      view: { payments: [{ applied_amount: '3.000000', refunded_amount: '1.000000' }] },
    },
    'records what still counts to the last unit': {
      given: paidInPart,
      when: refund(1, 1n),
      then: [{ type: 'OrderPaymentRefunded', data: { appliedMinor: '3999999', status: 'partially_paid' } }],
    },
    'records nothing where all of it still counts': {
      given: paidInFull,
      when: refund(1, 1n, minutesAfterNoon(5)),
      then: [{ type: 'OrderPaymentRefunded', data: { appliedMinor: undefined, status: 'paid' } }],
    },
    'keeps the order from becoming paid with too little': {
      given: partly,
      when: offer(2, 6_000_000n),
      order: { status: 'partially_paid' },
    },
    'lets the order become paid with what is missing': {
      given: partly,
      when: offer(2, 7_000_000n),
      order: { status: 'paid' },
    },
    'takes nothing more out when the order is paid and more is refunded': {
      given: [...partly, offer(2, 7_000_000n)],
      when: refund(1, 2_000_000n, minutesAfterNoon(30)),
      order: { status: 'paid', payments: [{ appliedMinor: 3_000_000n, refundedMinor: 2_000_000n }, 'applied'] },
    },
    'takes its amount out of an order that was reversed, too': {
      given: [createOrder(), offer(1, 6_000_000n), offer(2, 4_000_000n), fail(2)],
      when: refund(1, 1_000_000n),
      order: { remaining: 5_000_000n },
    },
    'takes its amount out of a partly paid order that expired': {
      given: [...paidInPart, expireAt(dueAt)],
      when: refund(1, 1_000_000n),
      order: { status: 'partially_paid_expired', remaining: 7_000_000n },
    },
    // 3 of 10 are paid. 7 tenths of 20.000001 remain, rounded up for each of the two parts.
    'is due at the new rates after a renewal': {
      given: [renewing, offer(1, 5_000_000n), renew(20_000_001n)],
      when: refund(1, 2_000_000n),
      order: { totalMinor: 17_000_002n, remaining: 14_000_002n },
    },
    'reverses an order that was paid before it learned of the refund': {
      given: [...paidInPart, offer(2, 6_000_000n, { at: minutesAfterNoon(10) })],
      when: refund(1, 1_000_000n, minutesAfterNoon(5)),
      order: { status: 'reversed', remaining: 1_000_000n },
    },
    'counts as made after the payment of the order if it was made less than a second before': {
      given: paidAMinuteLater,
      when: refund(1, 1n, msBefore(600)),
      order: { status: 'paid' },
    },
    'counts as made after the payment of the order if it was made a second before: clocks differ': {
      given: paidAMinuteLater,
      when: refund(1, 1n, msBefore(1_000)),
      order: { status: 'paid' },
    },
    'counts as made before the payment of the order if it was made a millisecond earlier': {
      given: paidAMinuteLater,
      when: refund(1, 1n, msBefore(1_001)),
      order: { status: 'reversed' },
    },
  });
});

test('a refund without the amount that still counts takes nothing out', () => {
  const refunded: OrderEvent = {
    type: 'OrderPaymentRefunded',
    data: {
      paymentId: paymentId(1),
      refundId: `rfd_${'0'.repeat(26)}`,
      refundedTotalMinor: '1000000',
      refundedAt: NOON.toISOString(),
      status: 'partially_paid',
      reason: 'partial_payment',
      at: NOON.toISOString(),
    },
  };
  const order = fold(orderDecider, orderDecider.initial, [...past(...paidInPart), refunded]);
  expect(remainingMinor(existing(order))).toBe(6_000_000n);
});

describe('money that its rail sees again after a failure', () => {
  const again = (n: number, amountMinor: bigint, options: Parameters<typeof offer>[2] = {}): OrderCommand =>
    offer(n, amountMinor, { sighting: 2, reinstatedAt: NOON.toISOString(), ...options });
  const failAgain = (confirmations?: number): OrderCommand => ({
    ...fail(1),
    payment: payment(1, 10_000_000n, { sighting: 2, reinstatedAt: NOON.toISOString(), confirmations }),
    failureReason: 'dropped',
  });
  const seenAgain = [...paidInFull, fail(1), again(1, 10_000_000n)];
  const ninth = { block: { height: 9, hash: '0x9a' }, confirmations: 12, blockChanges: 3 };
  const seventh = { block: { height: 7, hash: '0x7a' }, confirmations: 1, blockChanges: 2 };

  decisions({
    'pays the reversed order again': {
      given: [...paidInFull, fail(1)],
      when: again(1, 10_000_000n),
      then: [
        reinstated({ sighting: 2, confirmed: true }),
        applied({ status: 'paid', sightings: { [paymentId(1)]: 2 } }),
        paid,
      ],
    },
    'pays it again in full after a refund that was made while the order was paid': {
      given: [...paidInFull, refund(1, 1_000_000n), fail(1)],
      when: again(1, 10_000_000n),
      order: { status: 'paid' },
      view: { payments: [{ applied_amount: '9.000000', refunded_amount: '1.000000' }] },
    },
    'pays it again in full also after such refunds of several payments': {
      given: [
        createOrder(),
        offer(1, 6_000_000n),
        offer(2, 4_000_000n),
        refund(1, 1n),
        refund(2, 1n),
        fail(1, 6_000_000n),
      ],
      when: again(1, 6_000_000n),
      order: { status: 'paid', refundedWhilePaid: { [paymentId(1)]: 1n, [paymentId(2)]: 1n } },
    },
    'counts without the part that was refunded before the order was paid': {
      given: [...paidInPart, refund(1, 1_000_000n), fail(1)],
      when: again(1, 4_000_000n),
      order: { status: 'partially_paid', remaining: 7_000_000n },
    },
    'is received while it is unconfirmed': {
      given: [...paidInFull, fail(1)],
      when: again(1, 10_000_000n, { confirmed: false }),
      order: { payments: ['received'] },
    },
    'was confirmed when its rail says, which can be before it is reported': {
      given: [...paidInFull, fail(1)],
      when: again(1, 10_000_000n, { confirmedAt: minutesAfterNoon(2).toISOString(), at: minutesAfterNoon(5) }),
      order: { payments: [{ confirmedAt: minutesAfterNoon(2).toISOString() }] },
    },
    'is applied once it is confirmed': {
      given: [...paidInFull, fail(1), again(1, 10_000_000n, { confirmed: false })],
      when: again(1, 10_000_000n),
      then: [confirmed, applied(), paid],
    },
    'becomes an orphan when the order is paid with other money': {
      given: [...paidInFull, fail(1), offer(2, 10_000_000n)],
      when: again(1, 10_000_000n),
      order: { payments: ['orphan', 'applied'] },
    },
    'records the failure first when the order has not learned of it': {
      given: paidInFull,
      when: again(1, 10_000_000n, { confirmed: false }),
      then: [failed({ status: 'reversed' }), reinstated({ confirmed: false })],
    },
    'was dropped if the order never applied it': {
      given: [createOrder(), offer(1, 10_000_000n, { confirmed: false })],
      when: again(1, 10_000_000n),
      then: [failed({ failureReason: 'dropped', status: 'awaiting_payment' }), reinstated(), applied(), paid],
    },
    'keeps its block when an older report arrives after it': {
      given: [...paidInFull, fail(1), again(1, 10_000_000n, ninth)],
      when: again(1, 10_000_000n, seventh),
      then: [],
    },
    'is not touched by the failure of the earlier sighting': { given: seenAgain, when: fail(1), then: [] },
    'is not touched by a report of the earlier sighting': { given: seenAgain, when: offer(1, 10_000_000n), then: [] },
    'is not touched by a repeated report': { given: seenAgain, when: again(1, 10_000_000n), then: [] },
    'can fail again': { given: seenAgain, when: failAgain(), order: { status: 'reversed' } },
    'can be confirmed after it failed again': {
      given: [...paidInFull, fail(1), failAgain()],
      when: again(1, 10_000_000n),
      then: [confirmed],
    },
    'is recorded before its failure when the order learns of both at once': {
      given: paidInFull,
      when: failAgain(0),
      then: [
        failed({ failureReason: 'reorg', status: 'reversed' }),
        reinstated({ sighting: 2, confirmed: false, confirmations: 0 }),
        failed({ failureReason: 'dropped', sighting: 2 }),
      ],
    },
  });

  test('has failed again also where an earlier version recorded nothing but the second failure', () => {
    const { status, reason } = { status: 'reversed', reason: 'payment_failed' } as const;
    const at = minutesAfterNoon(1).toISOString();
    const failure = { paymentId: paymentId(1), failureReason: 'dropped', sighting: 2, failedAt: at };
    given(...past(...paidInFull, fail(1)), { type: 'OrderPaymentFailed', data: { ...failure, status, reason, at } })
      .when(failAgain())
      .thenNothing();
  });
});

describe('excess of an order that loses a payment', () => {
  const paidTwice = [...paidInFull, offer(2, 10_000_000n)];
  const block = { height: 7, hash: '0x7' };
  const lost = offer(2, 10_000_000n, { confirmed: false, unconfirmed: true, confirmations: 0, blockChanges: 1 });
  const mined = offer(2, 10_000_000n, { confirmed: false, confirmations: 1, block, blockChanges: 2 });
  // Both halves return under other ids, and the larger one first makes up for the smaller one.
  const halves = [createOrder(), ...[6n, 4n, 6n, 4n].map((usdc, n) => offer(n + 1, usdc * 1_000_000n))];
  const moreLater = [createOrder(), ...[6n, 4n, 4n].map((usdc, n) => offer(n + 1, usdc * 1_000_000n)), fail(1)];
  const overpaid = [...paidInFull, offer(2, 12_000_000n)];
  const late = { at: minutesAfterNoon(61) };
  const inTime = { at: minutesAfterNoon(62), seenAt: NOON.toISOString() };

  decisions({
    'pays it in the same moment: it may be the same money under another id': {
      given: paidTwice,
      when: fail(1),
      then: [
        failed({ status: 'reversed' }),
        applied({ allocations: [{ paymentId: paymentId(2) }], status: 'paid' }),
        { type: 'OrderPaid', data: { reason: 'payment_settled' } },
      ],
    },
    'is taken as far as it is needed, oldest first': {
      given: [...paidTwice, offer(3, 10_000_000n)],
      when: fail(1),
      order: { payments: ['failed', 'applied', 'orphan'] },
    },
    'is taken as far as it is needed, oldest first, also with can_overpay': {
      given: [createOrder({ allow: { can_overpay: true } }), ...paidTwice.slice(1), offer(3, 10_000_000n)],
      when: fail(1),
      order: { payments: ['failed', 'applied', 'orphan'] },
    },
    'is taken in part': {
      given: halves,
      when: fail(2),
      order: {
        payments: [
          'applied',
          'failed',
          { status: 'applied', appliedMinor: 4_000_000n, unappliedMinor: 2_000_000n },
          'orphan',
        ],
      },
    },
    'is also the rest of a payment that the order took in part': {
      given: [...halves, fail(2)],
      when: fail(1),
      order: {
        status: 'paid',
        payments: [
          'failed',
          'failed',
          { status: 'applied', appliedMinor: 6_000_000n, unappliedMinor: 0n },
          { status: 'applied', appliedMinor: 4_000_000n, unappliedMinor: 0n },
        ],
      },
    },
    'does not count alone if it is too little': {
      given: moreLater,
      when: fail(2),
      order: { payments: ['failed', 'failed', 'orphan'] },
    },
    'counts beside money that came later': {
      given: [...moreLater, fail(2)],
      when: offer(4, 6_000_000n),
      order: { status: 'paid', payments: ['failed', 'failed', 'applied', 'applied'] },
    },
    'is all or nothing: too little stays an orphan': {
      given: [...paidInFull, offer(2, 9_999_999n)],
      when: fail(1),
      order: { status: 'reversed', payments: ['failed', 'orphan'] },
    },
    'counts with the rest after a partial refund': {
      given: [...overpaid, refund(2, 2_000_000n)],
      when: fail(1),
      order: { status: 'paid', payments: ['failed', { appliedMinor: 10_000_000n }] },
    },
    'does not count if a partial refund left too little': {
      given: [...overpaid, refund(2, 2_000_001n)],
      when: fail(1),
      order: { status: 'reversed' },
    },
    'does not count after it was refunded in full': {
      given: [...overpaid, refund(2, 12_000_000n)],
      when: fail(1),
      order: { status: 'reversed' },
    },
    'does not count while its new block has too few confirmations': {
      given: [...paidTwice, lost, fail(1)],
      when: mined,
      order: { status: 'reversed' },
    },
    'counts once it has its confirmations in the new block': {
      given: [...paidTwice, lost, fail(1), mined],
      when: offer(2, 10_000_000n, { confirmations: 12, block, blockChanges: 2, confirmedAt: dueAt.toISOString() }),
      then: [confirmed, applied(), paid],
    },
    'is no late orphan: the order took it neither before nor after': {
      given: [createOrder(), expireAt(dueAt), offer(1, 10_000_000n, late), offer(2, 10_000_000n, inTime)],
      when: fail(2),
      order: { status: 'reversed', payments: ['orphan', 'failed'] },
    },
    'stays due for refund after a refund: the merchant chose to give the money back': {
      given: paidTwice,
      when: refund(1, 10_000_000n),
      order: { status: 'reversed' },
    },
    'is captured after a refund': {
      given: [...paidTwice, refund(1, 10_000_000n)],
      when: capture,
      order: { status: 'paid' },
    },
    'is captured, also if it is too little': {
      given: [...paidInFull, offer(2, 4_000_000n), fail(1)],
      when: capture,
      order: { status: 'reversed', remaining: 6_000_000n, payments: ['failed', 'applied'] },
    },
    'is no question for a repeated failure': { given: [...paidTwice, fail(1)], when: fail(1), then: [] },
  });
});
