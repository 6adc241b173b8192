import type { RecordedEvent } from '../events.ts';

export interface Query {
  readonly name: string;
  readonly text: string;
}

export interface EventRow {
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
export type StreamRow = { readonly head: string | null; readonly meta: Buffer | null } & (
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
export const ALL_FORWARDS: Query = { name: 'all-forwards', text: ofAll('>', 'position') };
export const ALL_BACKWARDS: Query = { name: 'all-backwards', text: ofAll('<', 'position desc') };

/** Parameters: stream, metastream, revision (inclusive), limit. */
export const STREAM_FORWARDS: Query = { name: 'stream-forwards', text: ofStream('>=', 'revision') };
export const STREAM_BACKWARDS: Query = { name: 'stream-backwards', text: ofStream('<=', 'revision desc') };

export const isEventRow = (row: StreamRow): row is StreamRow & EventRow => row.position !== null;

export const toRecordedEvent = (row: EventRow): RecordedEvent => ({
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
