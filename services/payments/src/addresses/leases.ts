import { ADDRESS_LEASE_MS } from '@cpg/contracts';

// The rules of derivation indexes: who may put which index into an order, and when. A reservation is an event on the stream
// of the account, appended with its expected revision, so an index never belongs to two reservations that are in force.
// Times are milliseconds of the monotonic clock of one process; processes never compare theirs.

/** How much longer a request that was sent at the end of a lease may take to reach the event store. */
const MARGIN_MS = ADDRESS_LEASE_MS;

/** A reservation rests from the moment a process knows of it. Its lease began earlier, so it has ended by then. */
export const REST_MS = ADDRESS_LEASE_MS + MARGIN_MS;

/** Sightings within this time count as one, at the later time: there is no more than one for each. */
const SAME_SIGHTING_MS = 1_000;

/** When this process knew of a reservation, and of all before it. */
interface Sighting {
  readonly revision: number;
  readonly firstAtMs: number;
  readonly atMs: number;
}

/** An account as one process knows it. */
export interface Account {
  /** Of the last reservation on its stream; -1 before the first. */
  readonly revision: number;
  /** No index from here on was ever reserved or shown. */
  readonly next: number;
  /** Oldest first. */
  readonly sightings: readonly Sighting[];
}

export const unknownAccount: Account = { revision: -1, next: 0, sightings: [] };

/** The account after this process learned of its last reservation. */
export const sighted = (account: Account, last: Pick<Account, 'revision' | 'next'>, nowMs: number): Account => {
  const { revision } = last;
  const next = Math.max(account.next, last.next);
  if (revision <= account.revision) return { ...account, next };
  const rested = account.sightings.findLastIndex(({ atMs }) => nowMs - atMs >= REST_MS);
  const kept = account.sightings.slice(Math.max(rested, 0));
  const newest = kept.at(-1);
  const isSame = newest !== undefined && nowMs - newest.firstAtMs < SAME_SIGHTING_MS;
  const sightings = isSame
    ? [...kept.slice(0, -1), { ...newest, revision, atMs: nowMs }]
    : [...kept, { revision, firstAtMs: nowMs, atMs: nowMs }];
  return { revision, next, sightings };
};

/** The newest reservation that has rested, with all before it; null if there is none. Of its indexes, those that no
 *  order recorded by now shows never will be shown. */
export const restedRevision = ({ sightings }: Account, nowMs: number): number | null =>
  sightings.findLast(({ atMs }) => nowMs - atMs >= REST_MS)?.revision ?? null;

export interface Reservation {
  readonly first: number;
  readonly count: number;
  readonly again: readonly number[];
  /** Nobody gets these indexes: money arrived there before they were reserved. */
  readonly skipped?: true;
}

/** Reserves `count` indexes: unused ones first, lowest first, so that few lie between the indexes that orders show. */
export const reservationOf = ({ next }: Account, count: number, unused: readonly number[]): Reservation => {
  const again = unused.toSorted((one, other) => one - other).slice(0, count);
  return { first: next, count: count - again.length, again };
};

/** The indexes of a reservation, lowest first. */
export const indexesOf = ({ first, count, again }: Omit<Reservation, 'skipped'>): number[] => [
  ...again,
  ...Array.from({ length: count }, (_, n) => first + n),
];
