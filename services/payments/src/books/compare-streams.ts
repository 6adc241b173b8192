import { setTimeout as sleep } from 'node:timers/promises';
import { OrderEvent, orderStreamOf, PAYMENT_STREAM_PREFIX, PaymentEvent } from '@cpg/contracts';
import { type LogPosition, readLog, readStream, UnreadableEventError } from '@cpg/event-sourcing';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import pMap from 'p-map';
import { ORDER_PREFIXES } from '../payables/payable.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import { compareBooks, type Difference, orderBookOf, type PaymentBook, paymentBookOf } from './books.ts';

/** The streams whose events say that money of a payment was applied. */
export const BOOK_PREFIXES = [ORDER_PREFIXES[0], PAYMENT_STREAM_PREFIX] as const;

/** An event of an order or of a payment says that money of the payment was applied to the order. */
export interface Claim {
  readonly orderId: string;
  readonly paymentId: string;
}

interface ClaimingData {
  readonly orderId?: unknown;
  readonly allocations?: unknown;
}

/** Both streams of every applied payment have such an event. An event that cannot be read claims nothing: `audit
 *  verify` names it. */
export const claimsIn = ({ event }: AllStreamResolvedEvent): Claim[] => {
  const { type, streamId } = event!;
  const data = (event!.data ?? {}) as ClaimingData;
  if (type === ('PaymentApplied' satisfies PaymentEvent['type']))
    return claimOf(data.orderId, streamId.slice(PAYMENT_STREAM_PREFIX.length));
  if (type !== ('OrderPaymentsApplied' satisfies OrderEvent['type']) || !Array.isArray(data.allocations)) return [];
  return data.allocations.flatMap((allocation: { readonly paymentId?: unknown } | null) =>
    claimOf(streamId.slice(ORDER_PREFIXES[0].length), allocation?.paymentId),
  );
};

const claimOf = (orderId: unknown, paymentId: unknown): Claim[] =>
  typeof orderId === 'string' && typeof paymentId === 'string' ? [{ orderId, paymentId }] : [];

/** Compares the payments of each claim with their orders, by their streams as they are now. Money in flight between the
 *  two services shows as a difference that is gone at a later look. */
export const compareStreams = async (
  client: EventStoreDBClient,
  claims: readonly Claim[],
  { concurrency, signal }: { readonly concurrency: number; readonly signal: AbortSignal },
): Promise<Difference[]> => {
  const byOrder = new Map<string, Set<string>>();
  for (const { orderId, paymentId } of claims)
    byOrder.set(orderId, (byOrder.get(orderId) ?? new Set<string>()).add(paymentId));
  const compareOrder = async (orderId: string, paymentIds: Iterable<string>): Promise<Difference[]> => {
    const order = orderBookOf(orderId, await readStream(client, orderStreamOf(orderId), OrderEvent));
    const payments = new Map<string, PaymentBook>();
    for (const paymentId of paymentIds)
      payments.set(paymentId, paymentBookOf(await readStream(client, paymentStreamOf(paymentId), PaymentEvent)));
    return compareBooks(order, payments);
  };
  const compare = async ([orderId, paymentIds]: [string, Set<string>]): Promise<Difference[]> => {
    signal.throwIfAborted();
    try {
      return await compareOrder(orderId, paymentIds);
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
      const [paymentId] = paymentIds;
      return [{ kind: 'unreadable', orderId, paymentId: paymentId!, text: error.message }];
    }
  };
  return (await pMap(byOrder, compare, { concurrency })).flat();
};

const CONCURRENCY = 8;
/** Bounds the memory. A claim beyond is compared twice. */
const MAX_KNOWN = 100_000;
const MAX_SHOWN = 50;
const STANDS_MS = 10_000;
const LOOK_EVERY_MS = 500;

interface VerifyBooksOptions {
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
