import pg from 'pg';
import type { ClientBase } from 'pg';
import type { Command, RecordedEvent } from '../events.ts';
import type { EventLocation, EventLocations } from './idempotency.ts';

// The bytes of all events are one binary parameter that PostgreSQL cuts apart: `pg` would send an array of bytea as
// hex. The streams that must be absent are looked up once, before the first row.
const INSERT = {
  name: 'insert-events',
  text: `insert into eventstore.event (position, stream, revision, id, type, is_json, created, data, metadata)
         select position, stream, revision, id, type, is_json, created,
                substring($8::bytea from data_from for metadata_from - data_from),
                substring($8::bytea from metadata_from for until - metadata_from)
           from unnest($1::bigint[], $2::text[], $3::bigint[], $4::uuid[], $5::text[], $6::boolean[], $7::bigint[],
                       $9::integer[], $10::integer[], $11::integer[])
             as e(position, stream, revision, id, type, is_json, created, data_from, metadata_from, until)
          where not exists (select from eventstore.event where stream = any($12::text[]))`,
};

/** Stores all of `events`, or none if one of the streams `absent` has an event. Resolves after the commit to whether
 *  the events are stored. */
export const insertEvents = async (
  client: ClientBase,
  events: readonly RecordedEvent[],
  absent: readonly string[],
): Promise<boolean> => {
  const chunks: Uint8Array[] = [];
  const dataFrom: number[] = [];
  const metadataFrom: number[] = [];
  const until: number[] = [];
  let offset = 1; // SQL counts bytes from 1
  for (const { data, metadata } of events) {
    chunks.push(data, metadata);
    dataFrom.push(offset);
    metadataFrom.push((offset += data.length));
    until.push((offset += metadata.length));
  }
  const { rowCount } = await client.query({
    ...INSERT,
    values: [
      events.map((e) => e.position),
      events.map((e) => e.stream),
      events.map((e) => e.revision),
      events.map((e) => e.id),
      events.map((e) => e.type),
      events.map((e) => e.isJson),
      events.map((e) => e.createdTicks),
      Buffer.concat(chunks),
      dataFrom,
      metadataFrom,
      until,
      absent,
    ],
  });
  return rowCount === events.length;
};

// A lateral join looks up each id in the index by id. For a plain join PostgreSQL may scan whole streams.
const LOCATIONS = {
  name: 'event-locations',
  text: `select wanted.stream, wanted.id, found.revision, found.position
           from unnest($1::text[], $2::uuid[]) as wanted(stream, id)
          cross join lateral (select revision, position from eventstore.event as e
                               where e.stream = wanted.stream and e.id = wanted.id) as found`,
};

/** Where events with the ids of `commands` are stored in their streams. */
export const findEventLocations = async (client: ClientBase, commands: readonly Command[]): Promise<EventLocations> => {
  const locations: EventLocations = new Map();
  const wanted = commands.flatMap((c) => (c.kind === 'append' ? c.events.map((e) => [c.stream, e.id] as const) : []));
  if (wanted.length === 0) return locations;
  const { rows } = await client.query<{ stream: string; id: string; revision: string; position: string }>({
    ...LOCATIONS,
    values: [wanted.map(([stream]) => stream), wanted.map(([, id]) => id)],
  });
  for (const { stream, id, revision, position } of rows) {
    const ids = locations.get(stream) ?? new Map<string, EventLocation[]>();
    const found = [...(ids.get(id) ?? []), { revision: BigInt(revision), position: BigInt(position) }];
    ids.set(
      id,
      found.sort((a, b) => Number(a.position - b.position)),
    );
    locations.set(stream, ids);
  }
  return locations;
};

/** Position of the last event of the log, 0 for an empty log. */
export const lastPosition = async (client: ClientBase): Promise<bigint> => {
  const { rows } = await client.query<{ last: string }>(
    'select coalesce(max(position), 0) as last from eventstore.event',
  );
  return BigInt(rows[0]!.last);
};

// Data exceptions, integrity constraint violations, and program limits.
const DATA_CLASSES = ['22', '23', '54'];
// Two events at one position or revision: the state in memory is not that of the database.
const UNIQUE_VIOLATION = '23505';

/** Whether PostgreSQL refuses the data of a statement, so that the same statement fails again. Any other error may
 *  pass, or tells that the session has to begin anew. */
export const isDataError = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError &&
  error.code !== UNIQUE_VIOLATION &&
  DATA_CLASSES.some((name) => error.code?.startsWith(name));

/** PostgreSQL settings that leave index scans only. Each statement of this package is a range scan of an index.
 *  Without statistics, for instance of a log that has just grown, PostgreSQL would sort or hash the whole log. */
export const INDEX_SCAN_SETTINGS: Readonly<Record<string, string>> = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_sort: 'off',
};
