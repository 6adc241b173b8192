import { AppError } from '@cpg/contracts';
import {
  type Account,
  indexesOf,
  type Reservation,
  reservationOf,
  restedRevision,
  sighted,
  unknownAccount,
} from './leases.ts';

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
    if (newest) account = sighted(account, newest, nowMs());
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
      account = sighted(account, { revision: revision + 1, next }, nowMs());
      return indexesOf(reservation);
    }
    throw tooManyConflicts();
  };
};
