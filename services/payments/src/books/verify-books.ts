import { setTimeout as sleep } from 'node:timers/promises';
import { type LogPosition, readLog } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import type { Difference } from './books.ts';
import { BOOK_PREFIXES, type Claim, claimsIn, compareStreams } from './compare-streams.ts';

const CONCURRENCY = 8;
/** Bounds the memory. A claim beyond is compared twice. */
const MAX_KNOWN = 100_000;
const MAX_SHOWN = 50;
const STANDS_MS = 10_000;
const LOOK_EVERY_MS = 500;

export interface VerifyBooksOptions {
  /** Compares only the payments that an event after this position names as applied. Default: all. */
  readonly since?: LogPosition | null;
  readonly signal: AbortSignal;
  /** A difference counts if it stands for this long. */
  readonly standsMs?: number;
}

/** Compares payments that were ever applied with their orders, by their streams, for `audit verify`. What is in flight
 *  between the services ends within seconds, while they run. */
export const verifyBooks = async (
  client: EventStoreDBClient,
  { since = null, signal, standsMs = STANDS_MS }: VerifyBooksOptions,
): Promise<{ readonly lines: string[]; readonly faults: number }> => {
  const known = new LRUCache<string, true>({ max: MAX_KNOWN });
  const isNew = ({ orderId, paymentId }: Claim): boolean => {
    const key = `${orderId} ${paymentId}`;
    const had = known.has(key);
    known.set(key, true);
    return !had;
  };
  const compare = (claims: readonly Claim[]) => compareStreams(client, claims, { concurrency: CONCURRENCY, signal });
  let differences: Difference[] = [];
  let compared = 0;
  await readLog(client, {
    from: since,
    prefixes: BOOK_PREFIXES,
    signal,
    handle: async (entries) => {
      const claims = entries.flatMap(claimsIn).filter(isNew);
      compared += claims.length;
      differences.push(...(await compare(claims)));
    },
  });
  const endsMs = performance.now() + standsMs;
  while (differences.length > 0 && performance.now() < endsMs) {
    await sleep(LOOK_EVERY_MS, undefined, { signal });
    differences = await compare(differences);
  }
  return { lines: booksReport(compared, differences), faults: differences.length };
};

const booksReport = (compared: number, differences: readonly Difference[]): string[] => {
  if (differences.length === 0)
    return [`orders and payments: ${compared} applied payments, all agree with their orders`];
  const more = differences.length > MAX_SHOWN ? [`and ${differences.length - MAX_SHOWN} more`] : [];
  return [
    ...differences.slice(0, MAX_SHOWN).map(({ text }) => text),
    ...more,
    `orders and payments: ${differences.length} differences in ${compared} applied payments: keep a copy of the event ` +
      'store first, change nothing, and see "When orders and payments differ" in docs/operators/recover.md',
  ];
};
