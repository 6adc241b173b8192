import { ADDRESS_LEASE_MS as LEASE_MS } from '@cpg/contracts';
import fc from 'fast-check';
import { indexesOf, type Reservation } from '../payables/payable.ts';
import { type AccountOptions, leaseIndexes, REST_MS } from './lease-indexes.ts';

/** What an order service holds: an index, and when its lease ends, counted from before the call. */
interface Held {
  readonly index: number;
  readonly endsAtMs: number;
}

const step = fc.oneof(
  fc.record({ do: fc.constant('lease' as const), process: fc.nat(2), count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ do: fc.constant('order' as const), pick: fc.nat(50) }),
  fc.record({ do: fc.constant('restart' as const), process: fc.nat(2) }),
  fc.record({ do: fc.constant('loseAnswer' as const), process: fc.nat(2) }),
  fc.record({
    do: fc.constant('pass' as const),
    ms: fc.constantFrom(1, 500, LEASE_MS / 2, LEASE_MS, REST_MS / 2, REST_MS),
  }),
);

test('no index is ever shown by two orders, whoever reserves, restarts, or loses an answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const world = startWorld();
      for (const each of steps) {
        if (each.do === 'lease') await world.lease(each.process, each.count);
        else if (each.do === 'order') world.order(each.pick);
        else if (each.do === 'restart') world.restart(each.process);
        else if (each.do === 'loseAnswer') world.loseAnswer(each.process);
        else world.pass(each.ms);
      }
      expect(new Set(world.shown).size).toBe(world.shown.length);
      // Nothing is wasted: after a rest, every index that no order shows is reserved before a new one.
      world.keepAnswers();
      await world.lease(0, 1);
      world.pass(REST_MS);
      const next = world.next();
      const wasted = next - new Set(world.shown).size;
      const last = await world.lease(0, wasted);
      expect(last.filter((index) => index >= next)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

/** One stream and the log of orders, exact and at once; three processes of payments, each with a clock of its own. */
const startWorld = () => {
  let clockMs = 0;
  const stream: Reservation[] = [];
  const shown: number[] = [];
  const held: Held[] = [];
  const losing = new Set<number>();
  const nextAfter = (count: number) =>
    stream.slice(0, count).reduce((next, { first, count: n }) => Math.max(next, first + n), 0);
  const lastReservationOf = (index: number) =>
    stream.findLastIndex((reservation) => indexesOf(reservation).includes(index));

  const processOf = (id: number): AccountOptions => ({
    last: async () => (stream.length === 0 ? null : { revision: stream.length - 1, next: nextAfter(stream.length) }),
    append: async (reservation, revision) => {
      if (revision !== stream.length - 1) return false;
      stream.push(reservation);
      if (losing.delete(id)) throw new Error('the answer is lost');
      return true;
    },
    firstIndex: async () => 0,
    unusedUpTo: async (revision, count) => {
      const all = Array.from({ length: nextAfter(stream.length) }, (_, index) => index);
      const unused = all.filter((index) => !shown.includes(index) && lastReservationOf(index) <= revision);
      return unused.slice(0, count);
    },
    nowMs: () => clockMs + id * 1_000_000,
  });
  const start = (id: number) => leaseIndexes(processOf(id));
  const processes = [start(0), start(1), start(2)];
  return {
    shown,
    next: () => nextAfter(stream.length),
    pass: (ms: number) => void (clockMs += ms),
    restart: (id: number) => void (processes[id] = start(id)),
    keepAnswers: () => losing.clear(),
    loseAnswer: (id: number) => void losing.add(id),
    lease: async (id: number, count: number): Promise<readonly number[]> => {
      const endsAtMs = clockMs + LEASE_MS;
      const indexes = await processes[id]!(count).catch(() => []);
      held.push(...indexes.map((index) => ({ index, endsAtMs })));
      return indexes;
    },
    /** Orders puts what it holds into an order, while the lease lasts. */
    order: (pick: number) => {
      if (held.length === 0) return;
      const [{ index, endsAtMs }] = held.splice(pick % held.length, 1) as [Held];
      if (clockMs < endsAtMs) shown.push(index);
    },
  };
};
