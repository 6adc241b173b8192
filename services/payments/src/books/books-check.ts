import { setTimeout as sleep } from 'node:timers/promises';
import { endOfLog, isBefore, type LogPosition, readLog, checkPosition } from '@cpg/event-sourcing';
import { type Pool, type Queryable, startLeaderElection, transaction } from '@cpg/platform/postgres';
import { computedMetric, type Logger, type MetricsRegistry, withTimeoutSignal } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { type Difference, DIFFERENCE_KINDS, type DifferenceKind } from './books.ts';
import { BOOK_PREFIXES, type Claim, claimOfDifference, claimsIn, compareStreams } from './compare-streams.ts';

/** Bounds the work of a look, whatever the history: 1,000 entries of the log, and so many earlier differences. */
const MAX_ENTRIES = 1_000;
const MAX_LOOKED_AGAIN = 500;
/** In how many looks a difference has to stand. Until then it may be in flight. */
const PERSISTENT_LOOKS = 5;
const LOOK_EVERY_MS = 60_000;
/** An event store that falls silent ends no read by itself. */
const LOOK_WITHIN_MS = 5 * 60_000;
const CONCURRENCY = 2;
const MAX_LOGGED = 20;

export interface BooksCheckOptions {
  readonly client: EventStoreDBClient;
  readonly db: Pool;
  readonly log: Logger;
  readonly maxEntries?: number;
}

interface BooksState {
  /** How many differences stand, by kind. */
  readonly persistent: ReadonlyMap<DifferenceKind, number>;
  /** When the event store was last read to its end; null before the first time. */
  readonly completedAt: Date | null;
}

/** Compares orders with their payments, a part of the event store at each look. Begins anew at the end of the store. */
export const booksCheck = ({ client, db, log, maxEntries = MAX_ENTRIES }: BooksCheckOptions) => ({
  state: () => readState(db),
  look: async (signal: AbortSignal): Promise<void> => {
    const { from, endsAt } = await nextPart(client, db);
    const read: Claim[] = [];
    const position = await readLog(client, {
      from,
      prefixes: BOOK_PREFIXES,
      maxCount: maxEntries,
      signal,
      handle: async (entries) => void read.push(...entries.flatMap(claimsIn)),
    });
    const claims = [...read, ...(await earlierDifferences(db))];
    const found = await compareStreams(client, claims, { concurrency: CONCURRENCY, signal });
    // An end that was removed since is never reached, but nothing follows either.
    const isComplete = !isBefore(position, endsAt) || (from !== null && !isBefore(from, position));
    const persistent = await transaction(db, async (tx) => {
      await savePart(tx, isComplete ? null : { position, endsAt });
      return saveDifferences(tx, claims, found);
    });
    for (const { orderId, paymentId, kind, text } of persistent.slice(0, MAX_LOGGED))
      log.error({ orderId, paymentId, kind, text }, 'an order and the stream of its payment differ');
    if (persistent.length > MAX_LOGGED)
      log.error({ differences: persistent.length }, 'more orders differ from their payments: see audit verify');
  },
});

export interface StartBooksCheckOptions extends BooksCheckOptions {
  /** For the connection that holds the leader's lock. */
  readonly databaseUrl: string;
  readonly metrics: MetricsRegistry;
  readonly now: () => Date;
  readonly everyMs?: number;
}

/** Looks once a minute, in one process of those that share the database, which also has the metrics. */
export const startBooksCheck = ({
  databaseUrl,
  metrics,
  now,
  everyMs = LOOK_EVERY_MS,
  ...options
}: StartBooksCheckOptions): { stop: () => Promise<void> } => {
  const { log } = options;
  const check = booksCheck(options);
  let led: (BooksState & { readonly checkedAt: Date }) | null = null;
  computedMetric(metrics, {
    name: 'books_differences',
    help: 'Differences between orders and the streams of their payments that stand for minutes, by kind',
    labels: ['kind'],
    values: () => (led ? DIFFERENCE_KINDS.map((kind) => [{ kind }, led?.persistent.get(kind) ?? 0] as const) : []),
  });
  const timestamp = (name: string, help: string, at: () => Date | null | undefined) =>
    computedMetric(metrics, {
      name,
      help,
      labels: [],
      values: () => {
        const date = at();
        return date ? [[{}, date.getTime() / 1_000]] : [];
      },
    });
  timestamp(
    'books_checked_timestamp_seconds',
    'When a part of the event store was last compared; before that, when this process began',
    () => led?.checkedAt,
  );
  timestamp(
    'books_complete_timestamp_seconds',
    'When the comparison of the whole event store was last complete',
    () => led?.completedAt,
  );
  return startLeaderElection({
    url: databaseUrl,
    role: 'payments.books-check',
    log,
    lead: async (signal) => {
      led = { ...(await check.state()), checkedAt: now() };
      try {
        while (!signal.aborted) {
          await sleep(everyMs, undefined, { signal }).catch(() => {});
          if (signal.aborted) return;
          try {
            await withTimeoutSignal(LOOK_WITHIN_MS, signal, check.look);
            led = { ...(await check.state()), checkedAt: now() };
          } catch (error) {
            if (!signal.aborted) log.warn({ err: error }, 'orders and payments were not compared, trying again');
          }
        }
      } finally {
        led = null;
      }
    },
  });
};

/** Where the next part begins. A restored event store may have other events: then it is read from its start. */
const nextPart = async (
  client: EventStoreDBClient,
  db: Queryable,
): Promise<{ from: LogPosition | null; endsAt: LogPosition | null }> => {
  const { rows } = await db.query<{ position: LogPosition | null; ends_at: LogPosition | null }>(
    'select position, ends_at from payments.books_check',
  );
  const { position: from = null, ends_at: endsAt = null } = rows[0] ?? {};
  if (from && endsAt && ['present', 'removed'].includes((await checkPosition(client, from)).status))
    return { from, endsAt };
  return { from: null, endsAt: await endOfLog(client) };
};

/** Null after the last part. */
const savePart = async (
  db: Queryable,
  next: { readonly position: LogPosition | null; readonly endsAt: LogPosition | null } | null,
): Promise<void> => {
  await db.query(
    `update payments.books_check set position = $1, ends_at = $2,
       completed_at = case when $3 then now() else completed_at end`,
    [next?.position ?? null, next?.endsAt ?? null, next === null],
  );
};

const earlierDifferences = async (db: Queryable): Promise<Claim[]> => {
  const { rows } = await db.query<{ order_id: string; payment_id: string; kind: DifferenceKind }>(
    'select order_id, payment_id, kind from payments.books_differences order by looked_at limit $1',
    [MAX_LOOKED_AGAIN],
  );
  return rows.map(({ order_id: orderId, payment_id: paymentId, kind }) =>
    claimOfDifference({ orderId, paymentId, kind }),
  );
};

/** Replaces the differences of the compared payments. Resolves to those that stand since this look. */
const saveDifferences = async (
  db: Queryable,
  compared: readonly Claim[],
  found: readonly Difference[],
): Promise<Difference[]> => {
  const columns = [
    found.map(({ orderId }) => orderId),
    found.map(({ paymentId }) => paymentId),
    found.map(({ kind }) => kind),
  ];
  await db.query(
    `delete from payments.books_differences as row
     using (select distinct * from unnest($1::text[], $2::text[])) as compared (order_id, payment_id)
     where row.order_id = compared.order_id and row.payment_id = compared.payment_id
       and (row.order_id, row.payment_id, row.kind) not in (select * from unnest($3::text[], $4::text[], $5::text[]))`,
    [compared.map(({ orderId }) => orderId), compared.map(({ paymentId }) => paymentId), ...columns],
  );
  const { rows } = await db.query<{
    order_id: string;
    payment_id: string;
    kind: DifferenceKind;
    description: string;
    looks: number;
  }>(
    `insert into payments.books_differences as row (order_id, payment_id, kind, description)
     select order_id, payment_id, kind, min(description)
     from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as found (order_id, payment_id, kind, description)
     group by order_id, payment_id, kind
     on conflict (order_id, payment_id, kind) do update set
       looks = row.looks + 1, looked_at = now(), description = excluded.description
     returning order_id, payment_id, kind, description, looks`,
    [...columns, found.map(({ text }) => text)],
  );
  return rows
    .filter(({ looks }) => looks === PERSISTENT_LOOKS)
    .map((row) => ({ orderId: row.order_id, paymentId: row.payment_id, kind: row.kind, text: row.description }));
};

const readState = async (db: Queryable): Promise<BooksState> => {
  const { rows } = await db.query<{ kind: DifferenceKind; count: string }>(
    'select kind, count(*) from payments.books_differences where looks >= $1 group by kind',
    [PERSISTENT_LOOKS],
  );
  const { rows: checks } = await db.query<{ completed_at: Date | null }>(
    'select completed_at from payments.books_check',
  );
  return {
    persistent: new Map(rows.map(({ kind, count }) => [kind, Number(count)])),
    completedAt: checks[0]?.completed_at ?? null,
  };
};
