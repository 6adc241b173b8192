import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  isMetastream,
  metastreamOf,
  NO_REVISION,
  originalStreamOf,
  type RecordedEvent,
  ticksOf,
  TOMBSTONE,
} from '../events.ts';
import { unavailable } from '../refusals.ts';
import { INDEX_SCAN_SETTINGS } from './writer-queries.ts';
import { firstReadableRevision, isSoftDeleted, type Retention, retentionOf } from './metadata.ts';

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

export interface Query {
  readonly name: string;
  readonly text: string;
}

interface EventRow {
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly id: string;
  readonly type: string;
  readonly is_json: boolean;
  readonly created: string;
  readonly data: Buffer;
  readonly metadata: Buffer;
}

/** The stream's last revision and metadata, with one event of the page or, for an empty page, without. */
type StreamRow = { readonly head: string | null; readonly meta: Buffer | null } & (
  EventRow | { readonly position: null }
);

const PAGE_BYTES = 4 * 1024 * 1024;

/** The rows of `scan` until a page has PAGE_BYTES. `octet_length` does not read the bytes themselves. */
const page = (scan: string, order: string): string => `
  select position, stream, revision, id, type, is_json, created, data, metadata
    from (select *, sum(octet_length(data) + octet_length(metadata)) over (order by ${order})
                    - octet_length(data) - octet_length(metadata) as bytes_before
            from (${scan}) as scanned) as sized
   where bytes_before < ${PAGE_BYTES}
   order by ${order}`;

const ofAll = (compare: string, order: string): string =>
  page(`select * from eventstore.event where position ${compare} $1 order by ${order} limit $2`, order);

const ofStream = (compare: string, order: string): string => `
  select (select revision from eventstore.event where stream = $1 order by revision desc limit 1) as head,
         (select data from eventstore.event where stream = $2 order by revision desc limit 1) as meta,
         page.*
    from (select) as always
    left join lateral (${page(
      `select * from eventstore.event where stream = $1 and revision ${compare} $3 order by ${order} limit $4`,
      order,
    )}) as page on true
   order by ${order}`;

/** Parameters: position (exclusive), limit. */
const ALL_FORWARDS: Query = { name: 'all-forwards', text: ofAll('>', 'position') };
const ALL_BACKWARDS: Query = { name: 'all-backwards', text: ofAll('<', 'position desc') };

/** Parameters: stream, metastream, revision (inclusive), limit. */
const STREAM_FORWARDS: Query = { name: 'stream-forwards', text: ofStream('>=', 'revision') };
const STREAM_BACKWARDS: Query = { name: 'stream-backwards', text: ofStream('<=', 'revision desc') };

const isEventRow = (row: StreamRow): row is StreamRow & EventRow => row.position !== null;

const toRecordedEvent = (row: EventRow): RecordedEvent => ({
  position: BigInt(row.position),
  stream: row.stream,
  revision: BigInt(row.revision),
  id: row.id,
  type: row.type,
  isJson: row.is_json,
  createdTicks: BigInt(row.created),
  data: row.data,
  metadata: row.metadata,
});
