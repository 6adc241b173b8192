import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { RecordedEvent } from '../events.ts';
import { isMetastream, metastreamOf, NO_REVISION, originalStreamOf, ticksOf, TOMBSTONE } from '../events.ts';
import { unavailable } from '../refusals.ts';
import { firstReadableRevision, isSoftDeleted, type Retention, retentionOf } from './metadata.ts';
import { INDEX_SCAN_SETTINGS } from './index-scans.ts';
import {
  ALL_BACKWARDS,
  ALL_FORWARDS,
  type EventRow,
  isEventRow,
  type Query,
  STREAM_BACKWARDS,
  STREAM_FORWARDS,
  type StreamRow,
  toRecordedEvent,
} from './reader-queries.ts';

/** Consecutive events of one stream, in the order of reading. */
export interface StreamPage {
  readonly status: 'exists' | 'not-found' | 'deleted';
  /** Last revision of the stream, readable or not. */
  readonly last: bigint;
  readonly events: readonly RecordedEvent[];
  /** Revision of the next page. It lies beyond events that were left out as too old. */
  readonly next: bigint;
  /** True if no events follow in this direction. */
  readonly isEnd: boolean;
}

export interface ReaderOptions {
  readonly databaseUrl: string;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** How long to wait for PostgreSQL's answer, in ms. */
  readonly queryTimeoutMs?: number;
}

/** The most events of one page. A page also ends at 4 MiB. */
export const PAGE_EVENTS = 500;
const MAX_CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** PostgreSQL ends a query after this time. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** A query that PostgreSQL does not answer ends after this time, and its connection with it. */
const QUERY_TIMEOUT_MS = 12_000;

/** Reads committed events in pages of bounded size. Each page is one range scan of an index.
 *  Throws `unavailable` while the database is unavailable. */
export class Reader {
  readonly #pool: pg.Pool;
  readonly #now: () => number;

  constructor({ databaseUrl, now, log, queryTimeoutMs = QUERY_TIMEOUT_MS }: ReaderOptions) {
    this.#now = now;
    this.#pool = new pg.Pool({
      connectionString: databaseUrl,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: queryTimeoutMs,
      options: Object.entries({ ...INDEX_SCAN_SETTINGS, statement_timeout: STATEMENT_TIMEOUT_MS })
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
      application_name: 'embedded-eventstore reader',
    });
    this.#pool.on('error', (error) => log(`lost an idle database connection: ${error.message}`));
  }

  /** Events after `position`, oldest first. Empty at the end of the log. */
  allForwards(position: bigint, limit = PAGE_EVENTS): Promise<RecordedEvent[]> {
    return this.#events(ALL_FORWARDS, [position, Math.min(limit, PAGE_EVENTS)]);
  }

  /** Events before `position`, newest first. Empty at the start of the log. */
  allBackwards(position: bigint, limit = PAGE_EVENTS): Promise<RecordedEvent[]> {
    return this.#events(ALL_BACKWARDS, [position, Math.min(limit, PAGE_EVENTS)]);
  }

  /** Events of `stream` from revision `from` (inclusive) to its last. */
  streamForwards(stream: string, from: bigint, limit = PAGE_EVENTS): Promise<StreamPage> {
    return this.#stream(STREAM_FORWARDS, stream, from, limit);
  }

  /** Events of `stream` from revision `from` (inclusive) back to its first. */
  streamBackwards(stream: string, from: bigint, limit = PAGE_EVENTS): Promise<StreamPage> {
    return this.#stream(STREAM_BACKWARDS, stream, from, limit);
  }

  /** Closes the connections. Does not wait for a query that PostgreSQL does not answer. */
  async close(): Promise<void> {
    await Promise.race([this.#pool.end(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }

  async #stream(query: Query, stream: string, from: bigint, limit: number): Promise<StreamPage> {
    const forwards = query === STREAM_FORWARDS;
    if (from > TOMBSTONE) return this.#stream(query, stream, TOMBSTONE, limit);
    const rows = await this.#query<StreamRow>(query, [
      stream,
      metastreamOf(stream),
      from,
      Math.min(limit, PAGE_EVENTS),
    ]);
    const last = rows[0]?.head == null ? NO_REVISION : BigInt(rows[0].head);
    const retention = retentionOf(stream, rows[0]?.meta ?? null);
    const nothing = { last, events: [], next: from, isEnd: true };
    if (last === TOMBSTONE) return { status: 'deleted', ...nothing };
    // A stream and its metadata are tombstoned together.
    if (isMetastream(stream)) {
      const original = await this.streamBackwards(originalStreamOf(stream), TOMBSTONE, 1);
      if (original.status === 'deleted') return { status: 'deleted', ...nothing };
    }
    if (last === NO_REVISION || isSoftDeleted(retention)) return { status: 'not-found', ...nothing };

    const first = firstReadableRevision(retention, last);
    // The query also loads the metadata. If it hides the start of this page, read again from the first readable event.
    if (forwards && from < first) return this.#stream(query, stream, first, limit);
    const found = rows.filter(isEventRow).map(toRecordedEvent);
    const readable = found.filter((event) => event.revision >= first && !this.#isTooOld(retention, event));
    const end = found.at(-1);
    if (!end) return { status: 'exists', last, events: readable, next: from, isEnd: true };
    const next = end.revision + (forwards ? 1n : -1n);
    return { status: 'exists', last, events: readable, next, isEnd: forwards ? next > last : next < first };
  }

  #isTooOld({ maxAgeSeconds }: Retention, event: RecordedEvent): boolean {
    return maxAgeSeconds !== undefined && event.createdTicks < ticksOf(this.#now() - maxAgeSeconds * 1000);
  }

  async #events(query: Query, values: unknown[]): Promise<RecordedEvent[]> {
    return (await this.#query<EventRow>(query, values)).map(toRecordedEvent);
  }

  async #query<Row extends pg.QueryResultRow>(query: Query, values: unknown[]): Promise<Row[]> {
    try {
      return (await this.#pool.query<Row>({ ...query, values })).rows;
    } catch (error) {
      throw unavailable(`the event store cannot read its database: ${(error as Error).message}`, error);
    }
  }
}
