import { ADDRESS_LEASE_MS, AppError } from '@cpg/contracts';
import { indexesOf, type Reservation } from '../payables/payable.ts';

/** Leases indexes of an account that no order shows. Nobody else gets them before the lease ends. */
export type LeaseIndexes = (count: number) => Promise<readonly number[]>;

export interface AccountOptions {
  /** The last reservation on the stream, with the index after its indexes; null before the first. */
  readonly last: () => Promise<Pick<Account, 'revision' | 'next'> | null>;
  /** Appends after `revision`. False on a conflict. */
  readonly append: (reservation: Reservation, revision: number) => Promise<boolean>;
  /** The index after all that have no reservation and may still be shown. */
  readonly firstIndex: (isNew: boolean) => Promise<number>;
  /** Up to `count` indexes that were reserved last by `revision` or earlier, and that no order recorded before the call
   *  shows. */
  readonly unusedUpTo: (revision: number, count: number) => Promise<number[]>;
  readonly nowMs: () => number;
}

const MAX_ATTEMPTS = 12;

/** Leases indexes of one account. Calls that wait for the event store share one reservation. */
export const leaseIndexes = (options: AccountOptions): LeaseIndexes => {
  const reserve = reserver(options);
  let waiting: { readonly count: number; readonly settle: (lease: Promise<readonly number[]>) => void }[] = [];
  let reserving = false;

  const reserveForAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const callers = waiting;
      waiting = [];
      const lease = reserve(callers.reduce((sum, { count }) => sum + count, 0));
      let start = 0;
      for (const { count, settle } of callers) {
        const from = start;
        start += count;
        settle(lease.then((indexes) => indexes.slice(from, from + count)));
      }
      await lease.catch(() => {});
    }
    reserving = false;
  };

  return (count) =>
    new Promise((resolve) => {
      waiting.push({ count, settle: resolve });
      if (reserving) return;
      reserving = true;
      // Calls of the same moment wait together.
      queueMicrotask(() => void reserveForAll());
    });
};

/** The indexes that nobody gets. */
export type SkippedIndexes = Pick<Reservation, 'first' | 'count'>;

/** Reserves every index up to `index` for nobody, because money arrived there. Null if it was reserved before. */
export const skipIndexes = async (
  { last, append, firstIndex }: Pick<AccountOptions, 'last' | 'append' | 'firstIndex'>,
  index: number,
): Promise<SkippedIndexes | null> => {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const newest = await last();
    const first = Math.max(newest?.next ?? 0, await firstIndex(newest === null));
    if (index < first) return null;
    const skipped = { first, count: index - first + 1 };
    if (await append({ ...skipped, again: [], skipped: true }, newest?.revision ?? -1)) return skipped;
  }
  throw tooManyConflicts();
};

const tooManyConflicts = () =>
  new AppError('concurrent_update', 'too many concurrent reservations of addresses: try again');

const reserver = ({ last, append, firstIndex, unusedUpTo, nowMs }: AccountOptions) => {
  let account = unknownAccount;
  /** Whether the stream may have reservations that this process does not know. */
  let isStale = true;
  let isStarted = false;

  const refresh = async () => {
    const newest = await last();
    if (!isStarted) account = { ...account, next: await firstIndex(newest === null) };
    isStarted = true;
    if (newest) account = withReservation(account, newest, nowMs());
    isStale = false;
  };
  const unused = async (count: number): Promise<number[]> => {
    const rested = restedRevision(account, nowMs());
    return rested === null ? [] : unusedUpTo(rested, count);
  };

  return async (count: number): Promise<readonly number[]> => {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      if (isStale) await refresh();
      const { revision } = account;
      const reservation = reservationOf(account, count, await unused(count));
      // Also after an append without an answer.
      isStale = true;
      if (!(await append(reservation, revision))) continue;
      isStale = false;
      const next = reservation.first + reservation.count;
      account = withReservation(account, { revision: revision + 1, next }, nowMs());
      return indexesOf(reservation);
    }
    throw tooManyConflicts();
  };
};

// The rules of derivation indexes: who may put which index into an order, and when. A reservation is an event on the
// stream of the account, appended with its expected revision, so an index never belongs to two reservations that are in
// force. Times are milliseconds of the monotonic clock of one process; processes never compare theirs.

/** How much longer a request that was sent at the end of a lease may take to reach the event store. */
const MARGIN_MS = ADDRESS_LEASE_MS;

/** A reservation rests from the moment a process knows of it. Its lease began earlier, so it has ended by then. */
export const REST_MS = ADDRESS_LEASE_MS + MARGIN_MS;

/** Reservations that are learned of within this time count as one, at the later time: there is no more than one for
 *  each. */
const SAME_MOMENT_MS = 1_000;

/** When this process knew of a reservation, and of all before it. */
interface KnownReservation {
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
  readonly knownReservations: readonly KnownReservation[];
}

export const unknownAccount: Account = { revision: -1, next: 0, knownReservations: [] };

/** The account after this process learned of its last reservation. */
export const withReservation = (account: Account, last: Pick<Account, 'revision' | 'next'>, nowMs: number): Account => {
  const { revision } = last;
  const next = Math.max(account.next, last.next);
  if (revision <= account.revision) return { ...account, next };
  const rested = account.knownReservations.findLastIndex(({ atMs }) => nowMs - atMs >= REST_MS);
  const kept = account.knownReservations.slice(Math.max(rested, 0));
  const newest = kept.at(-1);
  const isSame = newest !== undefined && nowMs - newest.firstAtMs < SAME_MOMENT_MS;
  const knownReservations = isSame
    ? [...kept.slice(0, -1), { ...newest, revision, atMs: nowMs }]
    : [...kept, { revision, firstAtMs: nowMs, atMs: nowMs }];
  return { revision, next, knownReservations };
};

/** The newest reservation that has rested, with all before it; null if there is none. Of its indexes, those that no
 *  order recorded by now shows never will be shown. */
export const restedRevision = ({ knownReservations }: Account, nowMs: number): number | null =>
  knownReservations.findLast(({ atMs }) => nowMs - atMs >= REST_MS)?.revision ?? null;

/** Reserves `count` indexes: unused ones first, lowest first, so that few lie between the indexes that orders show. */
export const reservationOf = ({ next }: Account, count: number, unused: readonly number[]): Reservation => {
  const again = unused.toSorted((one, other) => one - other).slice(0, count);
  return { first: next, count: count - again.length, again };
};
