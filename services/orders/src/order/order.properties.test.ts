import {
  AppError,
  dueBackMinor,
  messageTypeOf,
  Order as OrderResource,
  type OrderEvent,
  type OrderStatus,
  paymentBreakdown,
  webhookEventsOf,
} from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import fc from 'fast-check';
import { createOrder, deposit, instruction, minutesAfterNoon, NOON, payment } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { renewsWhenDue } from './deadline.ts';
import { orderDecider } from './order.ts';
import {
  applicableMinor,
  appliedMinor,
  dueAt,
  type ExistingOrder,
  exists,
  findPayment,
  hasLostPayment,
  isAtLockedRates,
  isHeld,
  isOpen,
  isSettledWith,
  isExcess,
  type Order,
  remainingMinor,
  shortfallMinor,
  smallestPayableMinor,
  spareMinor,
} from './state.ts';
import { unfitReason } from './unfit-money.ts';
import { orderView } from './view.ts';

/** Every allowed change of status. */
const ALLOWED: Record<OrderStatus, readonly OrderStatus[]> = {
  initialized: ['awaiting_payment', 'canceled', 'expired'],
  awaiting_payment: ['partially_paid', 'paid', 'expired', 'canceled'],
  partially_paid: ['paid', 'partially_paid_expired', 'canceled', 'awaiting_payment'],
  paid: ['reversed'],
  reversed: ['paid'],
  partially_paid_expired: ['paid'],
  expired: ['partially_paid_expired', 'paid'],
  canceled: [],
};

/** One step of a random history: time passes, then a command runs. */
type Step = { readonly minutes: number; readonly command: (at: Date) => OrderCommand };

// Several amounts settle an order, so that others come too late.
const paymentNumber = fc.constantFrom(1, 1, 2, 2, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9);
const amountOf = (n: number) =>
  [3_000_000n, 10_000_000n, 12_000_000n, 1n, 7_000_000n, 5_000_000n, 10_000_000n, 10_000_000n, 9_700_000n][n - 1]!;
/** The order shows the first of these chains, and not the second. */
const chainOfPayment = (n: number) => ({ 7: 'eip155:1', 8: 'eip155:11155111' })[n];
const providerIdOf = (n: number) => (chainOfPayment(n) ? `${chainOfPayment(n)}/0x${n}:0` : `tx-${n}`);

/** Rests of the amounts above are below some of these smallest payable amounts. */
const instructionsFor = (smallestPayableMinor: string | undefined) => [
  instruction,
  { ...deposit('ethereum'), ...(smallestPayableMinor && { smallestPayableMinor, payableStepMinor: '10' }) },
];
const smallest = fc.constantFrom(undefined, undefined, '2', '3000001');

const RATE_LOCK_MAX_MINUTES = 120;
const ratesQuotedAt = (at: Date) => ({
  MXN: { rate: '0.05', source: 'test', quoted_at: at.toISOString(), expires_at: at.toISOString() },
});

const ITEMS = [{ name: 'coffee', quantity: 1, unit_price: '100', currency: 'MXN' as const }];

type Commands = fc.Arbitrary<Step['command']>;

/** How often the rail has seen the money: reports come late and out of order. */
const sighting = fc.constantFrom(1, 1, 2, 3);

const commands: readonly [offer: Commands, fail: Commands, ...others: Commands[]] = [
  fc
    .tuple(
      paymentNumber,
      fc.boolean(),
      fc.constantFrom('USDC', 'USDC', 'USDC', 'BTC' as const),
      fc.integer({ min: 0, max: 90 }),
      sighting,
    )
    .map(([n, confirmed, currency, sinceMinutes, seen]) => (at): OrderCommand => ({
      type: 'OfferPayment',
      payment: payment(n, amountOf(n), {
        currency: n === 6 ? currency : 'USDC',
        providerId: providerIdOf(n),
        ...(seen > 1 && { sighting: seen, reinstatedAt: at.toISOString() }),
        seenAt: new Date(at.getTime() - sinceMinutes * 60_000).toISOString(),
      }),
      confirmed,
      at,
    })),
  fc.tuple(paymentNumber, sighting).map(([n, seen]) => (at): OrderCommand => ({
    type: 'FailPayment',
    payment: payment(n, amountOf(n), { providerId: providerIdOf(n), ...(seen > 1 && { sighting: seen }) }),
    failureReason: 'reorg',
    failedAt: at,
    at,
  })),
  fc.tuple(paymentNumber, fc.boolean()).map(([n, whole]) => (at): OrderCommand => ({
    type: 'RefundPayment',
    paymentId: payment(n, 0n).paymentId,
    refundId: `rfd_${'0'.repeat(26)}`,
    refundedTotalMinor: whole ? amountOf(n) : (amountOf(n) + 1n) / 2n,
    refundedAt: at,
    at,
  })),
  fc.constant((at: Date): OrderCommand => ({ type: 'CapturePayments', at })),
  fc.constant((at: Date): OrderCommand => ({ type: 'AcceptOrder', because: 'close enough', at })),
  fc.constant((at: Date): OrderCommand => ({ type: 'CancelOrder', at })),
  fc.constant((at: Date): OrderCommand => ({ type: 'CancelOrder', ifUnpaid: { recordedPayment: null }, at })),
  fc.constant((at: Date): OrderCommand => ({ type: 'ExpireOrder', at })),
  fc.bigInt(1_000_000n, 20_000_000n).map((pricedMinor) => (at: Date): OrderCommand => ({
    type: 'RenewOrder',
    rates: ratesQuotedAt(at),
    pricedMinor,
    ratesExpireAt: new Date(at.getTime() + RATE_LOCK_MAX_MINUTES * 60_000).toISOString(),
    at,
  })),
  smallest.map((minor) => (at: Date): OrderCommand => ({
    type: 'InstructOrder',
    instructions: instructionsFor(minor),
    at,
  })),
  fc.integer({ min: 5, max: 180 }).map((expirationMinutes) => (at: Date): OrderCommand => ({
    type: 'UpdateOrder',
    rateLockMaxMinutes: RATE_LOCK_MAX_MINUTES,
    expirationMinutes,
    at,
  })),
  fc.bigInt(1_000_000n, 20_000_000n).map((totalMinor) => (at: Date): OrderCommand => ({
    type: 'UpdateOrder',
    newItems: { items: ITEMS, rates: ratesQuotedAt(at), totalMinor, recordedPayment: null },
    rateLockMaxMinutes: RATE_LOCK_MAX_MINUTES,
    at,
  })),
  fc.integer({ min: 1, max: 90 }).map((minutes) => (at: Date): OrderCommand => ({ type: 'AdvanceTime', minutes, at })),
  fc.constant((at: Date): OrderCommand => ({ type: 'DeleteOrder', at })),
];

const [offered, failed, ...others] = commands;
const command = fc.oneof({ weight: 8, arbitrary: offered }, { weight: 3, arbitrary: failed }, ...others);

const history = fc.record({
  allow: fc.record({
    can_cancel: fc.boolean(),
    can_overpay: fc.boolean(),
    partial_payments: fc.boolean(),
    expiration_auto_renewal: fc.boolean(),
  }),
  instructed: fc.boolean(),
  smallestPayableMinor: smallest,
  toleranceBps: fc.constantFrom(0, 0, 100, 500),
  steps: fc.array(fc.record({ minutes: fc.constantFrom(0, 0, 0, 0, 1, 1, 30, 61, 24 * 60), command }), {
    minLength: 3,
    maxLength: 25,
    size: 'max',
  }),
});

type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** Runs a history and calls `look` with each state and the command before it. A refused command changes nothing. */
const run = (
  { allow, instructed, smallestPayableMinor, toleranceBps, steps }: History,
  look: (before: Order, after: Order, cause: { event: OrderEvent; command: OrderCommand; isLast: boolean }) => void,
): OrderEvent[] => {
  let order: Order = orderDecider.initial;
  let minutes = 0;
  const recorded: OrderEvent[] = [];
  const first: Step = {
    minutes: 0,
    command: () =>
      createOrder({
        allow,
        rates: ratesQuotedAt(NOON),
        toleranceBps,
        instructions: instructed ? instructionsFor(smallestPayableMinor) : undefined,
      }),
  };
  for (const step of [first, ...steps]) {
    minutes += step.minutes;
    const command = step.command(minutesAfterNoon(minutes));
    const events = decideOrRefuse(command, order);
    for (const event of events) {
      const after = fold(orderDecider, order, [event]);
      recorded.push(event);
      look(order, after, { event, command, isLast: event === events.at(-1) });
      order = after;
    }
  }
  return recorded;
};

const decideOrRefuse = (command: OrderCommand, order: Order): OrderEvent[] => {
  try {
    return orderDecider.decide(command, order);
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
};

const RUNS = { numRuns: process.env.EXTENDED ? 1_000 : 100 };

const conserved = (order: ExistingOrder) => {
  for (const each of order.payments) {
    const allocated = each.appliedMinor + each.unappliedMinor;
    expect(allocated).toBe(each.status === 'applied' ? each.amountMinor : 0n);
    const parts = Object.values(paymentBreakdown(each)) as bigint[];
    expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(each.amountMinor);
    expect(parts.filter((part) => part < 0n)).toEqual([]);
    expect(each.refundedMinor >= 0n && each.refundedMinor <= each.amountMinor).toBe(true);
    expect(each.status === 'refunded').toBe(each.refundedMinor === each.amountMinor);
    // Money that was refunded counts only if it was refunded while the order was paid.
    const { applied } = paymentBreakdown(each);
    const refundedWhilePaid = order.refundedWhilePaid[each.paymentId] ?? 0n;
    if (refundedWhilePaid === 0n) expect(each.appliedMinor).toBe(applied);
    expect(each.appliedMinor <= applied + refundedWhilePaid).toBe(true);
  }
};

const statusFollowsFromSum = (order: ExistingOrder) => {
  const applied = appliedMinor(order);
  const left = order.totalMinor - applied;
  expect(remainingMinor(order) + shortfallMinor(order)).toBe(left > 0n ? left : 0n);
  switch (order.status) {
    case 'paid':
      return expect(remainingMinor(order)).toBe(0n);
    case 'reversed':
      return expect(left > 0n).toBe(true);
    case 'partially_paid':
      return expect(applied > 0n && left > 0n).toBe(true);
    case 'canceled':
    case 'initialized':
    case 'awaiting_payment':
    case 'expired':
      return expect(applied).toBe(0n);
    default:
      return;
  }
};

const webhookOf = ({ type }: OrderEvent) => {
  const message = messageTypeOf(type);
  return message && webhookEventsOf({ type: message })[0];
};

test('the last order:created or order:updated always shows what a read shows', () => {
  fc.assert(
    fc.property(history, (random) => {
      let sent: unknown;
      run(random, (_, after, { event, isLast }) => {
        if (!exists(after)) return;
        if (['order:created', 'order:updated'].includes(webhookOf(event) ?? '')) sent = orderView(after);
        if (isLast) expect(sent).toEqual(orderView(after));
      });
    }),
    RUNS,
  );
});

test('no money is created or lost, and the status follows from the sum', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (_, after, { isLast }) => {
        if (!exists(after)) return;
        conserved(after);
        statusFollowsFromSum(after);
        if (isLast) expect(isSettledWith(after, 0n)).toBe(after.status === 'paid');
      });
    }),
    RUNS,
  );
});

test('the total of an open order without applied payments is the price of its items at the locked rates', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (_, after) => {
        if (exists(after) && isOpen(after) && appliedMinor(after) === 0n)
          expect(after.totalMinor).toBe(after.pricedMinor);
      });
    }),
    RUNS,
  );
});

test('an open order never applies money that its rail saw after the locked rates ended, unless it is captured', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (before, after, { event, command }) => {
        if (event.type !== 'OrderPaymentsApplied' || command.type === 'CapturePayments') return;
        if (!exists(before) || !exists(after) || !isOpen(before)) return;
        const applied = event.data.allocations.map(({ paymentId }) => findPayment(before, paymentId)!);
        expect(applied.filter(({ seenAt }) => seenAt > dueAt(before))).toEqual([]);
      });
    }),
    RUNS,
  );
});

test('money from before the order, or of another currency, never applies; other unfit money only by a capture', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (before, _, { event, command }) => {
        if (event.type !== 'OrderPaymentsApplied' || !exists(before)) return;
        for (const { paymentId } of event.data.allocations) {
          const payment = findPayment(before, paymentId)!;
          // A capture has accepted it: what was too much of it then may settle the order later.
          if (payment.status === 'applied') continue;
          const reason = unfitReason(before, payment);
          expect([null, ...(command.type === 'CapturePayments' ? ['wrong_network'] : [])]).toContain(reason);
        }
      });
    }),
    RUNS,
  );
});

test('no money is applied twice: what applies was not applied before, nor refunded before the order was paid', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (before, after, { event }) => {
        if (event.type !== 'OrderPaymentsApplied' || !exists(before) || !exists(after)) return;
        for (const { paymentId, appliedMinor: minor } of event.data.allocations) {
          const payment = findPayment(before, paymentId)!;
          expect(['received', 'orphan', 'applied']).toContain(payment.status);
          expect(BigInt(minor) > payment.appliedMinor && BigInt(minor) <= applicableMinor(before, payment)).toBe(true);
        }
        expect(new Set(event.data.allocations.map(({ paymentId }) => paymentId)).size).toBe(
          event.data.allocations.length,
        );
      });
    }),
    RUNS,
  );
});

test('no order holds money that would settle it', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (_, after, { isLast }) => {
        if (!isLast || !exists(after) || after.status === 'initialized' || remainingMinor(after) === 0n) return;
        const held = after.payments.filter((each) => isHeld(each) && isAtLockedRates(after, each));
        const excess = hasLostPayment(after) ? after.payments.filter((each) => isExcess(after, each)) : [];
        const sum = [...held, ...excess].reduce((total, each) => total + spareMinor(after, each), 0n);
        expect(isSettledWith(after, sum)).toBe(false);
      });
    }),
    RUNS,
  );
});

test('a paid order holds no confirmed payment that nobody decided about', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (_, after, { isLast }) => {
        if (isLast && exists(after) && after.status === 'paid') expect(after.payments.filter(isHeld)).toEqual([]);
      });
    }),
    RUNS,
  );
});

test('an order is settled with less than its total only by a rest that nobody can send, that is tolerated or accepted', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (before, after) => {
        if (!exists(before) || !exists(after) || after.status !== 'paid' || shortfallMinor(after) === 0n) return;
        const shortfall = shortfallMinor(after);
        const isTolerated = shortfall * 10_000n <= after.totalMinor * BigInt(after.toleranceBps);
        const isUnpayable = shortfall < smallestPayableMinor(after) && shortfall <= appliedMinor(after);
        const isAccepted = shortfall <= after.acceptedShortfallMinor;
        expect(isTolerated || isUnpayable || isAccepted).toBe(true);
      });
    }),
    RUNS,
  );
});

test('rates are locked until the deadline at most, and never for longer than they may be', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (_, after) => {
        if (!exists(after)) return;
        const { rates, ratesExpireAt, expiresAt, capabilities } = after;
        expect(ratesExpireAt <= expiresAt).toBe(true);
        if (!capabilities.expiration_auto_renewal) expect(ratesExpireAt).toBe(expiresAt);
        const longest = Date.parse(rates.MXN!.quoted_at) + RATE_LOCK_MAX_MINUTES * 60_000;
        expect(Date.parse(ratesExpireAt) <= longest).toBe(true);
      });
    }),
    RUNS,
  );
});

test('no order is deleted with money that nobody decided about', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (before, after) => {
        if (after.status !== 'deleted' || !exists(before)) return;
        const { status, payments } = before;
        const undecided = payments.filter((each) => {
          const { received, applied } = paymentBreakdown(each);
          return received + dueBackMinor(each) > 0n || (applied > 0n && status !== 'paid');
        });
        expect(undecided.map(({ paymentId }) => paymentId)).toEqual([]);
      });
    }),
    RUNS,
  );
});

test('only the allowed transitions happen', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (before, after) => {
        if (!exists(before) || !exists(after) || before.status === after.status) return;
        expect(ALLOWED[before.status]).toContain(after.status);
      });
    }),
    RUNS,
  );
});

test('a repeated command changes nothing', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (_, after, { command, isLast }) => {
        // Advancing the clock and updating are not idempotent: each call is a new change.
        if (command.type === 'UpdateOrder' || command.type === 'AdvanceTime' || !isLast || !exists(after)) return;
        expect(decideOrRefuse(command, after)).toEqual([]);
      });
    }),
    RUNS,
  );
});

test('the folded order renders to a valid Order resource', () => {
  fc.assert(
    fc.property(history, (random) => {
      let last: Order = orderDecider.initial;
      const recorded = run(random, (_, after) => void (last = after));
      const replayed = fold(orderDecider, orderDecider.initial, JSON.parse(JSON.stringify(recorded)) as OrderEvent[]);
      expect(replayed).toEqual(last);
      if (exists(replayed)) OrderResource.parse(orderView(replayed));
    }),
    { numRuns: process.env.EXTENDED ? 150 : 50 },
  );
});

test('an open order that is due either renews, expires, or waits for the confirmation of a payment', () => {
  fc.assert(
    fc.property(history, (random) => {
      run(random, (_, after, { command }) => {
        if (!exists(after) || !isOpen(after) || command.at.toISOString() < dueAt(after)) return;
        if (renewsWhenDue(after)) return;
        const events = orderDecider.decide({ type: 'ExpireOrder', at: command.at }, after);
        const held = after.payments.some((each) => each.status === 'received' && !each.confirmedAt);
        expect(events.length > 0 || held).toBe(true);
      });
    }),
    RUNS,
  );
});
