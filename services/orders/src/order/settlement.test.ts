import type { AssignedInstruction, OrderEvent } from '@cpg/contracts';
import {
  accept,
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
import { createOrder, deposit, instruction, minutesAfterNoon, NOON, offer, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { remainingMinor, shortfallMinor } from './state.ts';
import { orderView } from './view.ts';

/** The order of 10 USDC can be paid in amounts from 0.001 USDC on. */
const SMALLEST = 1_000n;
const deposits = (...smallest: (bigint | undefined)[]): AssignedInstruction[] =>
  smallest.map((minor, n) => ({
    ...deposit(`network-${n}`),
    ...(minor !== undefined && { smallestPayableMinor: String(minor) }),
  }));
const order = (changes: Parameters<typeof createOrder>[0] = {}) =>
  createOrder({ rails: ['crypto_deposit'], instructions: deposits(SMALLEST), ...changes });
const tolerant = (toleranceBps: number, changes: Parameters<typeof createOrder>[0] = {}) =>
  createOrder({ toleranceBps, ...changes });

const amounts = (...commands: OrderCommand[]) => {
  const now = existing(after(...commands));
  const { status, total_amount, remaining_amount, shortfall_amount } = orderView(now);
  return { status, total_amount, remaining_amount, shortfall_amount };
};

describe('a rest that nobody can send', () => {
  test('settles the order, and is recorded as missing', () =>
    given(...past(order()))
      .when(offer(1, 9_999_001n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        {
          type: 'OrderPaymentsApplied',
          data: {
            allocations: [{ paymentId: paymentId(1), appliedMinor: '9999001', unappliedMinor: '0' }],
            shortfallMinor: '999',
            status: 'paid',
            reason: 'payment_settled',
          },
        },
        { type: 'OrderPaid', data: { reason: 'payment_settled' } },
      ));
  test('leaves the order open if it can be sent', () =>
    expect(amounts(order(), offer(1, 9_999_000n))).toEqual({
      status: 'partially_paid',
      total_amount: '10.000000',
      remaining_amount: '0.001000',
      shortfall_amount: undefined,
    }));
  test('adds up with what was applied and what remains', () => {
    expect(amounts(order(), offer(1, 4_000_000n), offer(2, 5_999_500n))).toEqual({
      status: 'paid',
      total_amount: '10.000000',
      remaining_amount: '0.000000',
      shortfall_amount: '0.000500',
    });
    expect(amounts(order(), offer(1, 10_000_000n)).shortfall_amount).toBeUndefined();
  });
  test('is measured by the network that takes the smallest amounts', () => {
    const networks = (...smallest: (bigint | undefined)[]) =>
      amounts(order({ instructions: deposits(...smallest) }), offer(1, 9_999_500n)).status;
    expect(networks(5_000n, 1_000n)).toBe('paid');
    expect(networks(5_000n, 500n)).toBe('partially_paid');
    expect(networks(500n, 5_000n)).toBe('partially_paid');
    expect(networks(5_000n, undefined)).toBe('partially_paid');
  });
  test('counts for the addresses behind a payment page, and not without an address', () => {
    const [behind] = deposits(SMALLEST);
    const page = { ...instruction, deposits: [behind as Extract<AssignedInstruction, { rail: 'crypto_deposit' }>] };
    expect(amounts(order({ instructions: [page] }), offer(1, 9_999_500n)).status).toBe('paid');
    expect(amounts(order({ instructions: [instruction] }), offer(1, 9_999_500n)).status).toBe('partially_paid');
  });
  test('settles nothing that is paid with less than the rest', () => {
    const tiny = (minor: bigint) => amounts(order({ totalMinor: 1_000n }), offer(1, minor)).status;
    expect([tiny(499n), tiny(500n)]).toEqual(['partially_paid', 'paid']);
  });
  test('settles an order that takes no partial payments, and an expired one, and a capture', () => {
    const whole = order({ allow: { partial_payments: false } });
    expect(amounts(whole, offer(1, 9_999_500n)).status).toBe('paid');
    expect(amounts(whole, offer(1, 4_000_000n), offer(2, 5_999_500n)).status).toBe('paid');
    const inTime = { seenAt: minutesAfterNoon(59).toISOString(), at: minutesAfterNoon(61) };
    expect(amounts(whole, expireAt(dueAt), offer(1, 9_999_500n, inTime)).status).toBe('paid');
    const late = { at: minutesAfterNoon(61) };
    expect(amounts(order(), expireAt(dueAt), offer(1, 9_999_500n, late), capture).status).toBe('paid');
  });
  test('is not asked for while money that settles the order waits for its confirmation', () => {
    const asked = (minor: bigint) => {
      const view = orderView(existing(after(order(), offer(1, minor, { confirmed: false }))));
      const [shown] = view.deposit_instructions;
      return [shown!.amount, 'payment_uri' in shown!];
    };
    expect(asked(9_999_500n)).toEqual(['0.000000', false]);
    expect(asked(9_999_000n)).toEqual(['0.001000', true]);
  });
  test('that a renewal leaves settles the order', () =>
    given(...past(order({ allow: { expiration_auto_renewal: true } }), offer(1, 5_000_000n)))
      .when({ type: 'RenewOrder', rates: {}, pricedMinor: 1_000n, at: dueAt })
      .thenLike(
        { type: 'OrderRenewed', data: { totalMinor: '5000500' } },
        { type: 'OrderPaymentsApplied', data: { allocations: [], shortfallMinor: '500', status: 'paid' } },
        { type: 'OrderPaid', data: { reason: 'payment_settled' } },
      ));
});

describe('a tolerance for underpayment', () => {
  test('settles an order of which at most so much is missing, with a reason of its own', () => {
    given(...past(tolerant(500)))
      .when(offer(1, 9_500_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        {
          type: 'OrderPaymentsApplied',
          data: { shortfallMinor: '500000', status: 'paid', reason: 'settled_within_tolerance' },
        },
        { type: 'OrderPaid', data: { reason: 'settled_within_tolerance' } },
      );
    expect(amounts(tolerant(500), offer(1, 9_499_999n)).status).toBe('partially_paid');
    expect(amounts(tolerant(0), offer(1, 9_999_999n)).status).toBe('partially_paid');
  });
  test('is shown with the order, and with what is missing', () => {
    const view = orderView(existing(after(tolerant(125), offer(1, 9_900_000n))));
    expect(view).toMatchObject({ underpayment_tolerance_percent: 1.25, shortfall_amount: '0.100000' });
    expect(orderView(existing(after(createOrder())))).not.toHaveProperty('underpayment_tolerance_percent');
  });
  test('of an order settles nothing that was not paid at all', () =>
    expect(amounts(tolerant(500), expireAt(dueAt)).status).toBe('expired'));
  test('with the whole amount, no tolerance is named', () =>
    expect(existing(after(tolerant(500), offer(1, 10_000_000n))).statusReason).toBe('payment_settled'));
});

describe('an order that was settled with less', () => {
  const settled = [tolerant(500), offer(1, 7_000_000n), offer(2, 2_600_000n)];
  test('is reversed only when more than the tolerance is missing', () => {
    expect(existing(after(...settled)).status).toBe('paid');
    const small = [...settled.slice(0, 2), offer(3, 100_000n), offer(2, 2_600_000n)];
    const still = existing(after(...small, fail(3, 100_000n)));
    expect([still.status, shortfallMinor(still), remainingMinor(still)]).toEqual(['paid', 400_000n, 0n]);
    const reversed = existing(after(...settled, fail(2, 2_600_000n)));
    expect([reversed.status, shortfallMinor(reversed), remainingMinor(reversed)]).toEqual(['reversed', 0n, 3_000_000n]);
  });
  test('is settled again by the same money', () =>
    expect(
      amounts(...settled, fail(2, 2_600_000n), offer(2, 2_600_000n, { sighting: 2, reinstatedAt: NOON.toISOString() })),
    ).toMatchObject({ status: 'paid', shortfall_amount: '0.400000' }));
  test('applies money that fits into what is missing, and orphans more', () => {
    given(...past(...settled))
      .when(offer(3, 400_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsApplied', data: { status: 'paid', reason: 'payment_settled' } },
      );
    expect(amounts(...settled, offer(3, 400_000n)).shortfall_amount).toBeUndefined();
    given(...past(...settled))
      .when(offer(3, 400_001n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsOrphaned', data: { orphanReason: 'already_paid' } },
      );
  });
  test('takes its excess before it tolerates a rest', () =>
    expect(
      amounts(tolerant(500), offer(1, 9_000_000n), offer(2, 1_200_000n), fail(1, 9_000_000n), offer(3, 8_600_000n)),
    ).toMatchObject({ status: 'paid', remaining_amount: '0.000000', shortfall_amount: '0.200000' }));
  test('stays paid after a partial refund, and can be deleted', () => {
    expect(amounts(...settled, refund(1, 1_000_000n))).toMatchObject({ status: 'paid', shortfall_amount: '0.400000' });
    given(...past(...settled))
      .when(remove)
      .thenLike({ type: 'OrderDeleted' });
  });
});

describe('amounts that wallets take', () => {
  test('are asked for in whole steps', () => {
    const stepped = order({ instructions: [{ ...deposit('ethereum'), payableStepMinor: '10000' }] });
    const view = orderView(existing(after(stepped, offer(1, 4_000_001n))));
    expect(view.remaining_amount).toBe('5.999999');
    expect(view.deposit_instructions[0]).toMatchObject({ amount: '6.000000', amount_units: '6000000' });
  });
  test('are recorded with a surplus, so that none is due back that is too small to send', () => {
    const allocationOf = (create: OrderCommand, minor: bigint) => {
      const [applied] = past(create, offer(1, minor)).filter(({ type }) => type === 'OrderPaymentsApplied');
      return (applied as Extract<OrderEvent, { type: 'OrderPaymentsApplied' }>).data.allocations[0];
    };
    const whole = { paymentId: paymentId(1), appliedMinor: '10000000', unappliedMinor: '0' };
    const surplus = { ...whole, unappliedMinor: '2000000' };
    expect(allocationOf(order(), 12_000_000n)).toStrictEqual({ ...surplus, smallestPayableMinor: '1000' });
    expect(allocationOf(order(), 10_000_000n)).toStrictEqual(whole);
    expect(allocationOf(order({ instructions: deposits(1n) }), 12_000_000n)).toStrictEqual(surplus);
  });
  test('show the smallest amount that can be paid', () =>
    expect(orderView(existing(after(order()))).deposit_instructions[0]).toMatchObject({
      smallest_payable_amount: '0.001000',
    }));
});

describe('AcceptOrder', () => {
  const short = offer(1, 9_000_000n);
  const accepted = { type: 'OrderAccepted', data: { shortfallMinor: '1000000', acceptedBecause: 'close enough' } };

  test.each<[string, OrderCommand[]]>([
    ['partly paid', [createOrder(), short]],
    ['partly paid and expired', [createOrder(), short, expireAt(dueAt)]],
    ['reversed', [createOrder(), short, offer(2, 1_000_000n), fail(2, 1_000_000n)]],
  ])('settles an order that is %s, with the missing amount and the reason', (_case, history) => {
    given(...past(...history))
      .when(accept)
      .thenLike(accepted, { type: 'OrderPaid', data: { reason: 'accepted_by_merchant' } });
    expect(amounts(...history, accept)).toEqual({
      status: 'paid',
      total_amount: '10.000000',
      remaining_amount: '0.000000',
      shortfall_amount: '1.000000',
    });
  });
  test.each<[string, OrderCommand[], RegExp]>([
    ['without money', [createOrder()], /^no payment is applied.* cancel it, or let it expire/],
    ['whose money is held', [createOrder({ allow: { partial_payments: false } }), short], /capture its payments first/],
    [
      'whose money is not in a block',
      [createOrder(), offer(1, 9n, { confirmed: false, confirmations: 0 })],
      /nothing to accept/,
    ],
    ['that is canceled', [createOrder(), short, cancel], /^a canceled order takes no payments/],
  ])('refuses an order %s', (_case, history, message) =>
    expect(() => orderDecider.decide(accept, after(...history))).toThrow(
      expect.objectContaining({ code: 'order_state_conflict', message: expect.stringMatching(message) }),
    ),
  );
  test('changes nothing in a paid order', () =>
    given(...past(createOrder(), short, accept))
      .when(accept)
      .thenNothing());
  test('makes held money that came too late an orphan', () => {
    const late = offer(2, 400_000n, { at: minutesAfterNoon(61) });
    given(...past(createOrder({ allow: { expiration_auto_renewal: true } }), short, late))
      .when({ ...accept, at: minutesAfterNoon(62) })
      .thenLike(
        accepted,
        { type: 'OrderPaid' },
        { type: 'OrderPaymentsOrphaned', data: { paymentIds: [paymentId(2)], orphanReason: 'already_paid' } },
      );
  });
  test('applies later money that fits into the missing part, and keeps its word', () => {
    expect(amounts(createOrder(), short, accept, offer(2, 400_000n))).toMatchObject({
      status: 'paid',
      shortfall_amount: '0.600000',
    });
    const { status, statusReason } = existing(after(createOrder(), short, accept, offer(2, 400_000n)));
    expect([status, statusReason]).toEqual(['paid', 'accepted_by_merchant']);
    expect(existing(after(createOrder(), short, accept, offer(2, 1_000_001n))).payments[1]).toMatchObject({
      status: 'orphan',
      orphanReason: 'already_paid',
    });
  });
  test('holds for the same money seen again after a reorganization, and not for less', () => {
    const failed = [createOrder(), short, accept, fail(1, 9_000_000n)];
    expect(amounts(...failed)).toMatchObject({ status: 'reversed', remaining_amount: '10.000000' });
    expect(amounts(...failed, offer(2, 9_000_000n))).toMatchObject({ status: 'paid', shortfall_amount: '1.000000' });
    expect(amounts(...failed, offer(2, 8_999_999n)).status).toBe('reversed');
  });
});
