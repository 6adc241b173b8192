import { setTimeout as sleep } from 'node:timers/promises';
import {
  deletionStreamOf,
  OrderDeletionEvent,
  OrderEvent,
  orderStreamOf,
  PAYMENT_STREAM_PREFIX,
  PaymentEvent,
} from '@cpg/contracts';
import { firstEvent, type LogPosition, readLog, readStream, UnreadableEventError } from '@cpg/event-sourcing';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import pMap from 'p-map';
import { ORDER_PREFIXES } from '../payables/payable.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import {
  compareBooks,
  type Difference,
  type DifferenceKind,
  orderBookOf,
  type PaymentBook,
  paymentBookOf,
} from './books.ts';

/** The streams whose events name the payments of orders. */
export const BOOK_PREFIXES = [ORDER_PREFIXES[0], PAYMENT_STREAM_PREFIX] as const;

/** An event of an order or of a payment names both. */
export interface Claim {
  readonly orderId: string;
  readonly paymentId: string;
  /** Whether it says that money of the payment was applied to the order. Then both streams have to show the same;
   *  otherwise each one only has to be there. */
  readonly isApplied: boolean;
}

interface ClaimingData {
  readonly orderId?: unknown;
  readonly allocations?: unknown;
  readonly payment?: { readonly paymentId?: unknown } | null;
}

/** Both streams of every payment have such an event. An event that cannot be read claims nothing: `audit verify` names
 *  it. */
export const claimsIn = ({ event }: AllStreamResolvedEvent): Claim[] => {
  const { type, streamId } = event!;
  const data = (event!.data ?? {}) as ClaimingData;
  const [ownOrder, ownPayment] = [ORDER_PREFIXES[0], PAYMENT_STREAM_PREFIX].map((prefix) =>
    streamId.slice(prefix.length),
  );
  switch (type as (OrderEvent | PaymentEvent)['type']) {
    case 'PaymentReceived':
      return claimOf(data.orderId, ownPayment, false);
    case 'PaymentApplied':
      return claimOf(data.orderId, ownPayment, true);
    case 'OrderPaymentReceived':
      return claimOf(ownOrder, data.payment?.paymentId, false);
    case 'OrderPaymentsApplied':
      return Array.isArray(data.allocations)
        ? data.allocations.flatMap((allocation: { readonly paymentId?: unknown } | null) =>
            claimOf(ownOrder, allocation?.paymentId, true),
          )
        : [];
    default:
      return [];
  }
};

const claimOf = (orderId: unknown, paymentId: unknown, isApplied: boolean): Claim[] =>
  typeof orderId === 'string' && typeof paymentId === 'string' ? [{ orderId, paymentId, isApplied }] : [];

/** The kinds of differences that do not depend on what was applied. */
const OF_EXISTENCE: ReadonlySet<DifferenceKind> = new Set(['missing', 'unrecorded', 'unreadable']);

/** Compares the payments of each claim with their orders, by their streams as they are now. Money in flight between the
 *  two services shows as a difference that is gone at a later look. */
export const compareStreams = async (
  client: EventStoreDBClient,
  claims: readonly Claim[],
  { concurrency, signal }: { readonly concurrency: number; readonly signal: AbortSignal },
): Promise<Difference[]> => {
  const byOrder = new Map<string, Map<string, boolean>>();
  for (const { orderId, paymentId, isApplied } of claims) {
    const payments = byOrder.get(orderId) ?? new Map<string, boolean>();
    byOrder.set(orderId, payments.set(paymentId, isApplied || payments.get(paymentId) === true));
  }
  const compareOrder = async (orderId: string, applied: ReadonlyMap<string, boolean>): Promise<Difference[]> => {
    const recorded = await readStream(client, orderStreamOf(orderId), OrderEvent);
    if (recorded === null && !(await hasDeletionRecord(client, orderId))) return [unrecorded(orderId, applied)];
    const order = orderBookOf(orderId, recorded);
    const payments = new Map<string, PaymentBook>();
    for (const paymentId of applied.keys())
      payments.set(paymentId, paymentBookOf(await readStream(client, paymentStreamOf(paymentId), PaymentEvent)));
    return compareBooks(order, payments).filter(
      ({ kind, paymentId }) => applied.get(paymentId) === true || OF_EXISTENCE.has(kind),
    );
  };
  const compare = async ([orderId, applied]: [string, ReadonlyMap<string, boolean>]): Promise<Difference[]> => {
    signal.throwIfAborted();
    try {
      return await compareOrder(orderId, applied);
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
      return [{ kind: 'unreadable', orderId, paymentId: firstOf(applied), text: error.message }];
    }
  };
  return (await pMap(byOrder, compare, { concurrency })).flat();
};

const firstOf = (payments: ReadonlyMap<string, boolean>): string => [...payments.keys()][0]!;

const hasDeletionRecord = async (client: EventStoreDBClient, orderId: string): Promise<boolean> => {
  const record = await firstEvent(client, deletionStreamOf(orderId), OrderDeletionEvent);
  return record !== null && record !== 'deleted';
};

const unrecorded = (orderId: string, payments: ReadonlyMap<string, boolean>): Difference => ({
  kind: 'unrecorded',
  orderId,
  paymentId: firstOf(payments),
  text: `${orderStreamOf(orderId)} is deleted, but ${deletionStreamOf(orderId)}, which would say so, does not exist`,
});

/** The claim under which a difference is looked at again. */
export const claimOfDifference = ({ orderId, paymentId, kind }: Omit<Difference, 'text'>): Claim => ({
  orderId,
  paymentId,
  isApplied: !OF_EXISTENCE.has(kind),
});

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

/** Compares payments that were ever applied with their orders, by their streams, for `audit verify`. Also finds payments
 *  that are gone although an order names them, and orders that were deleted without a record. What is in flight between
 *  the services ends within seconds, while they run. */
export const verifyBooks = async (
  client: EventStoreDBClient,
  { since = null, signal, standsMs = STANDS_MS }: VerifyBooksOptions,
): Promise<{ readonly lines: string[]; readonly faults: number }> => {
  const known = new LRUCache<string, true>({ max: MAX_KNOWN });
  const isNew = ({ orderId, paymentId, isApplied }: Claim): boolean => {
    const key = `${orderId} ${paymentId} ${isApplied}`;
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
      compared += claims.filter(({ isApplied }) => isApplied).length;
      differences.push(...(await compare(claims)));
    },
  });
  const endsMs = performance.now() + standsMs;
  while (differences.length > 0 && performance.now() < endsMs) {
    await sleep(LOOK_EVERY_MS, undefined, { signal });
    differences = await compare(differences.map(claimOfDifference));
  }
  return { lines: booksReport(compared, differences), faults: differences.length };
};

const booksReport = (compared: number, differences: readonly Difference[]): string[] => {
  if (differences.length === 0)
    return [
      `orders and payments: ${compared} applied payments, all agree with their orders; no stream that they name is missing`,
    ];
  const more = differences.length > MAX_SHOWN ? [`and ${differences.length - MAX_SHOWN} more`] : [];
  return [
    ...differences.slice(0, MAX_SHOWN).map(({ text }) => text),
    ...more,
    `orders and payments: ${differences.length} differences in ${compared} applied payments: keep a copy of the event ` +
      'store first, change nothing, and see "When orders and payments differ" in docs/operators/recover.md',
  ];
};
