import { ADDRESS_LEASE_MS } from '@cpg/contracts';
import { indexesOf, type Reservation } from '../payables/payable.ts';
import {
  type Account,
  leaseIndexes,
  reservationOf,
  REST_MS,
  restedRevision,
  skipIndexes,
  withReservation,
  unknownAccount,
} from './lease-indexes.ts';

/** An account as a process knows it that saw these reservations. */
const given = (...seen: readonly (readonly [revision: number, next: number, atMs: number])[]) => {
  const account = seen.reduce<Account>(
    (known, [revision, next, atMs]) => withReservation(known, { revision, next }, atMs),
    unknownAccount,
  );
  return {
    whenReserving: (count: number, unused: readonly number[] = []) => {
      const reservation = reservationOf(account, count, unused);
      return {
        then: (expected: object) => expect({ ...reservation, indexes: indexesOf(reservation) }).toEqual(expected),
      };
    },
    at: (nowMs: number) => ({
      thenRested: (revision: number | null) => expect(restedRevision(account, nowMs)).toBe(revision),
    }),
  };
};

test('the first reservation begins at 0', () =>
  given()
    .whenReserving(3)
    .then({ first: 0, count: 3, again: [], indexes: [0, 1, 2] }));

test('a reservation begins after every index that was reserved before', () =>
  given([0, 8, 0], [1, 10, 0])
    .whenReserving(2)
    .then({ first: 10, count: 2, again: [], indexes: [10, 11] }));

test('unused indexes come first, the lowest before the others', () =>
  given([0, 8, 0])
    .whenReserving(3, [6, 2])
    .then({ first: 8, count: 1, again: [2, 6], indexes: [2, 6, 8] }));

test('no more unused indexes are reserved than needed', () =>
  given([0, 8, 0])
    .whenReserving(1, [6, 2])
    .then({ first: 8, count: 0, again: [2], indexes: [2] }));

test('a reservation rests until its lease has ended in every process, and longer', () => {
  expect(REST_MS).toBeGreaterThan(ADDRESS_LEASE_MS);
  given([0, 8, 5_000])
    .at(5_000 + REST_MS - 1)
    .thenRested(null);
  given([0, 8, 5_000])
    .at(5_000 + REST_MS)
    .thenRested(0);
});

test('a reservation that a process learns of later rests from then on', () =>
  given([0, 8, 0], [4, 20, REST_MS - 1])
    .at(REST_MS)
    .thenRested(0));

test('reservations of one second rest together, from the last of them on', () => {
  const account = given([0, 8, 0], [1, 9, 400], [2, 10, 900], [3, 11, 2_000]);
  account.at(REST_MS + 899).thenRested(null);
  account.at(REST_MS + 900).thenRested(2);
  account.at(REST_MS + 2_000).thenRested(3);
});

test('a reservation a second after another one rests on its own', () => {
  given([0, 8, 0], [1, 9, 999]).at(REST_MS).thenRested(null);
  given([0, 8, 0], [1, 9, 1_000]).at(REST_MS).thenRested(0);
});

test('the newest reservation that has rested stays known, and those before it are forgotten', () => {
  const after = (ms: number) =>
    [0, 2_000, 4_000, ms].reduce<Account>(
      (account, atMs, revision) => withReservation(account, { revision, next: revision }, atMs),
      unknownAccount,
    ).knownReservations;
  expect(after(REST_MS + 1_999).map(({ revision }) => revision)).toEqual([0, 1, 2, 3]);
  expect(after(REST_MS + 2_000).map(({ revision }) => revision)).toEqual([1, 2, 3]);
});

test('an outdated answer of the event store changes nothing', () =>
  given([5, 30, 0], [3, 20, 10_000])
    .whenReserving(1)
    .then({ first: 30, count: 1, again: [], indexes: [30] }));

test('a process that reserves for days keeps a bounded list', () => {
  let account = unknownAccount;
  for (let n = 0; n < 10_000; n += 1) account = withReservation(account, { revision: n, next: n }, n * 700);
  expect(account.knownReservations.length).toBeLessThan(REST_MS / 1_000 + 2);
});

describe('a process that leases indexes', () => {
  /** The stream of an account. Others reserve by `conflicts` appends of 10 indexes, each right before one of ours. */
  const streamOf = ({ conflicts = 0, reserved = [] as number[], firstIndex = 0 } = {}) => {
    const appended: Reservation[] = [];
    const asked: unknown[] = [];
    let [nowMs, revision, next, left] = [1_000, -1, 0, conflicts];
    const options = {
      last: async () => (revision < 0 ? null : { revision, next }),
      append: async (reservation: Reservation, expected: number) => {
        if (left > 0) [left, revision, next] = [left - 1, revision + 1, next + 10];
        if (expected !== revision) return false;
        appended.push(reservation);
        [revision, next] = [revision + 1, reservation.first + reservation.count];
        return true;
      },
      firstIndex: async (isNew: boolean) => {
        asked.push(['first', isNew]);
        return firstIndex;
      },
      unusedUpTo: async (...call: [number, number]) => {
        asked.push(['unused', ...call]);
        return reserved;
      },
      nowMs: () => nowMs,
    };
    return { options, lease: leaseIndexes(options), appended, asked, pass: (ms: number) => void (nowMs += ms) };
  };

  test('makes one reservation for all calls of a moment, and shares it out in order', async () => {
    const { lease, appended } = streamOf();
    expect(await Promise.all([lease(2), lease(1), lease(3)])).toEqual([[0, 1], [2], [3, 4, 5]]);
    expect(appended).toEqual([{ first: 0, count: 6, again: [] }]);
    expect(await lease(1)).toEqual([6]);
  });
  test('makes one reservation at a time', async () => {
    const { options } = streamOf();
    let running = 0;
    const append = async (...call: Parameters<typeof options.append>) => {
      expect((running += 1)).toBe(1);
      await new Promise(setImmediate);
      running -= 1;
      return options.append(...call);
    };
    const lease = leaseIndexes({ ...options, append });
    const first = lease(2);
    await Promise.resolve();
    expect(await Promise.all([first, lease(1), lease(3)])).toEqual([[0, 1], [2], [3, 4, 5]]);
  });
  test('begins after all that has no reservation', async () => {
    const { lease, asked } = streamOf({ firstIndex: 40 });
    expect(await lease(2)).toEqual([40, 41]);
    expect(await lease(1)).toEqual([42]);
    expect(asked).toEqual([['first', true]]);
  });
  test('reserves again what no order shows, once its reservation has rested', async () => {
    const { lease, asked, pass, appended } = streamOf({ reserved: [3, 1] });
    await lease(4);
    pass(REST_MS);
    expect(await lease(3)).toEqual([1, 3, 4]);
    expect(asked.at(-1)).toEqual(['unused', 0, 3]);
    expect(appended.at(-1)).toEqual({ first: 4, count: 1, again: [1, 3] });
  });
  test('reads the stream again after a conflict', async () => {
    const { lease, appended } = streamOf({ conflicts: 2 });
    expect(await lease(1)).toEqual([20]);
    expect(appended).toHaveLength(1);
  });
  test('gives up after 12 conflicts, and works for the next call', async () => {
    const { lease } = streamOf({ conflicts: 12 });
    await expect(lease(1)).rejects.toMatchObject({ code: 'concurrent_update' });
    expect(await lease(1)).toEqual([120]);
  });
  test('succeeds at the twelfth attempt', async () =>
    expect(await streamOf({ conflicts: 11 }).lease(1)).toEqual([110]));
  test('reads the stream again after an append without an answer', async () => {
    const { options } = streamOf();
    let isLost = true;
    const lease = leaseIndexes({
      ...options,
      append: async (...call) => {
        const isDone = await options.append(...call);
        if (isLost) throw new Error('no answer');
        return isDone;
      },
    });
    await expect(lease(2)).rejects.toThrow('no answer');
    isLost = false;
    expect(await lease(1)).toEqual([2]);
  });

  test('skips the indexes up to one that received money, and none twice', async () => {
    const { options, appended } = streamOf({ firstIndex: 5 });
    expect(await skipIndexes(options, 4)).toBeNull();
    expect(await skipIndexes(options, 5)).toEqual({ first: 5, count: 1 });
    expect(await skipIndexes(options, 5)).toBeNull();
    expect(await skipIndexes(options, 8)).toEqual({ first: 6, count: 3 });
    expect(appended).toEqual([
      { first: 5, count: 1, again: [], skipped: true },
      { first: 6, count: 3, again: [], skipped: true },
    ]);
  });
  test('skips what is left after conflicts, and gives up after 12', async () => {
    expect(await skipIndexes(streamOf({ conflicts: 1 }).options, 12)).toEqual({ first: 10, count: 3 });
    expect(await skipIndexes(streamOf({ conflicts: 1 }).options, 9)).toBeNull();
    expect(await skipIndexes(streamOf({ conflicts: 11 }).options, 110)).toEqual({ first: 110, count: 1 });
    await expect(skipIndexes(streamOf({ conflicts: 12 }).options, 500)).rejects.toMatchObject({
      code: 'concurrent_update',
    });
  });
});
