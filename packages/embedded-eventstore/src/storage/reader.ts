import pg from 'pg';
import type { RecordedEvent } from '../events.ts';
import { metastreamOf, NO_REVISION, ticksOf, TOMBSTONE } from '../events.ts';
import { unavailable } from '../refusals.ts';
import { firstReadable, isSoftDeleted, type Retention, retentionOf } from './metadata.ts';
import { INDEX_SCANS } from './planner.ts';

/** A piece of one stream, in the order of reading. */
export interface StreamPage {
  readonly status: 'exists' | 'not-found' | 'deleted';
  /** Last revision of the stream, readable or not. */
  readonly last: bigint;
  /** The lowest revision that its metadata lets be read. */
  readonly first: bigint;
  readonly events: readonly RecordedEvent[];
  /** Where to go on reading; events that are too old were left out before it. */
  readonly next: bigint;
  /** True if nothing follows in this direction. */
  readonly isEnd: boolean;
}

export interface ReaderOptions {
  readonly databaseUrl: string;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** Events of one page; a page ends earlier once it has PAGE_BYTES. */
export const PAGE_EVENTS = 500;
const PAGE_BYTES = 4 * 1024 * 1024;
const MAX_CONNECTIONS = 8;
const CONNECT_WITHIN_MS = 5_000;

/** Reads committed events, page by page: each page is one range scan of an index and bounded in memory.
 *  Throws `unavailable` while the database is away. */
export class Reader {
  readonly #pool: pg.Pool;
  readonly #now: () => number;

  constructor({ databaseUrl, now, log }: ReaderOptions) {
    this.#now = now;
    this.#pool = new pg.Pool({
      connectionString: databaseUrl,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      options: Object.entries(INDEX_SCANS)
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
      application_name: 'embedded-eventstore reader',
    });
    this.#pool.on('error', (error) => log(`lost a connection to PostgreSQL: ${error.message}`));
  }

  /** Events after `position`, oldest first; none at the end of the log. */
  allForwards(position: bigint, limit = PAGE_EVENTS): Promise<RecordedEvent[]> {
    return this.#events(ALL_FORWARDS, [position, Math.min(limit, PAGE_EVENTS)]);
  }

  /** Events before `position`, youngest first; none at the start of the log. */
  allBackwards(position: bigint, limit = PAGE_EVENTS): Promise<RecordedEvent[]> {
    return this.#events(ALL_BACKWARDS, [position, Math.min(limit, PAGE_EVENTS)]);
  }

  /** Events of `stream` from revision `from` on. */
  streamForwards(stream: string, from: bigint, limit = PAGE_EVENTS): Promise<StreamPage> {
    return this.#stream(STREAM_FORWARDS, stream, from, limit);
  }

  /** Events of `stream` from revision `from` back to its first. */
  streamBackwards(stream: string, from: bigint, limit = PAGE_EVENTS): Promise<StreamPage> {
    return this.#stream(STREAM_BACKWARDS, stream, from, limit);
  }

  async close(): Promise<void> {
    await this.#pool.end();
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
    const nothing = { last, first: 0n, events: [], next: from, isEnd: true };
    if (last === TOMBSTONE) return { status: 'deleted', ...nothing };
    if (last === NO_REVISION || isSoftDeleted(retention)) return { status: 'not-found', ...nothing };

    const first = firstReadable(retention, last);
    // The page was read before the metadata was known: one that begins among the hidden events starts over.
    if (forwards && from < first) return this.#stream(query, stream, first, limit);
    const found = rows.filter(isEventRow).map(eventOf);
    const readable = found.filter((event) => event.revision >= first && !this.#isTooOld(retention, event));
    const end = found.at(-1);
    if (!end) return { status: 'exists', last, first, events: readable, next: from, isEnd: true };
    const next = end.revision + (forwards ? 1n : -1n);
    return { status: 'exists', last, first, events: readable, next, isEnd: forwards ? next > last : next < first };
  }

  #isTooOld({ maxAgeSeconds }: Retention, event: RecordedEvent): boolean {
    return maxAgeSeconds !== undefined && event.createdTicks < ticksOf(this.#now() - maxAgeSeconds * 1000);
  }

  async #events(query: Query, values: unknown[]): Promise<RecordedEvent[]> {
    return (await this.#query<EventRow>(query, values)).map(eventOf);
  }

  async #query<Row extends pg.QueryResultRow>(query: Query, values: unknown[]): Promise<Row[]> {
    try {
      return (await this.#pool.query<Row>({ ...query, values })).rows;
    } catch (error) {
      throw unavailable(`the event store cannot read its database: ${(error as Error).message}`, error);
    }
  }
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

/** The stream's head and metadata, once or beside each event. */
type StreamRow = { readonly head: string | null; readonly meta: Buffer | null } & (
  EventRow | { readonly position: null }
);

interface Query {
  readonly name: string;
  readonly text: string;
}

/** The rows that `scan` finds, up to the one that fills the page. Sizes are known without reading the bytes. */
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

const ALL_FORWARDS: Query = { name: 'all-forwards', text: ofAll('>', 'position') };
const ALL_BACKWARDS: Query = { name: 'all-backwards', text: ofAll('<', 'position desc') };
const STREAM_FORWARDS: Query = { name: 'stream-forwards', text: ofStream('>=', 'revision') };
const STREAM_BACKWARDS: Query = { name: 'stream-backwards', text: ofStream('<=', 'revision desc') };

const isEventRow = (row: StreamRow): row is StreamRow & EventRow => row.position !== null;

const eventOf = (row: EventRow): RecordedEvent => ({
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
