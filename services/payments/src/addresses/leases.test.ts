import { ADDRESS_LEASE_MS } from '@cpg/contracts';
import { indexesOf } from '../payables/payable.ts';
import {
  type Account,
  reservationOf,
  REST_MS,
  restedRevision,
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

test('an outdated answer of the event store changes nothing', () =>
  given([5, 30, 0], [3, 20, 10_000])
    .whenReserving(1)
    .then({ first: 30, count: 1, again: [], indexes: [30] }));

test('a process that reserves for days keeps a bounded list', () => {
  let account = unknownAccount;
  for (let n = 0; n < 10_000; n += 1) account = withReservation(account, { revision: n, next: n }, n * 700);
  expect(account.knownReservations.length).toBeLessThan(REST_MS / 1_000 + 2);
});
