import type { ClientBase } from 'pg';
import type { RecordedEvent } from '../events.ts';
import type { Command, Place } from './batch.ts';

// All bytes travel as one binary parameter and are cut apart by the server: an array of bytea would travel as hex.
const INSERT = {
  name: 'insert-events',
  text: `insert into eventstore.event (position, stream, revision, id, type, is_json, created, data, metadata)
         select position, stream, revision, id, type, is_json, created,
                substring($8::bytea from data_from for metadata_from - data_from),
                substring($8::bytea from metadata_from for until - metadata_from)
           from unnest($1::bigint[], $2::text[], $3::bigint[], $4::uuid[], $5::text[], $6::boolean[], $7::bigint[],
                       $9::integer[], $10::integer[], $11::integer[])
             as e(position, stream, revision, id, type, is_json, created, data_from, metadata_from, until)`,
};

/** Stores `events` durably, all or none: resolves after the commit. */
export const insertEvents = async (client: ClientBase, events: readonly RecordedEvent[]): Promise<void> => {
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
  await client.query({
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
    ],
  });
};

// One look-up per id, in the index by id: a plain join would leave PostgreSQL the choice to scan whole streams.
const PLACES = {
  name: 'places',
  text: `select wanted.stream, wanted.id, found.revision, found.position
           from unnest($1::text[], $2::uuid[]) as wanted(stream, id)
          cross join lateral (select revision, position from eventstore.event as e
                               where e.stream = wanted.stream and e.id = wanted.id) as found`,
};

/** Where the event ids of `commands` are in their streams already, oldest first: stream -> id -> places. */
export const findPlaces = async (
  client: ClientBase,
  commands: readonly Command[],
): Promise<Map<string, Map<string, Place[]>>> => {
  const places = new Map<string, Map<string, Place[]>>();
  const wanted = commands.flatMap((c) => (c.kind === 'append' ? c.events.map((e) => [c.stream, e.id] as const) : []));
  if (wanted.length === 0) return places;
  const { rows } = await client.query<{ stream: string; id: string; revision: string; position: string }>({
    ...PLACES,
    values: [wanted.map(([stream]) => stream), wanted.map(([, id]) => id)],
  });
  for (const { stream, id, revision, position } of rows) {
    const ids = places.get(stream) ?? new Map<string, Place[]>();
    const found = [...(ids.get(id) ?? []), { revision: BigInt(revision), position: BigInt(position) }];
    ids.set(
      id,
      found.sort((a, b) => Number(a.position - b.position)),
    );
    places.set(stream, ids);
  }
  return places;
};

/** Position of the last event of the log, 0 when it is empty. */
export const lastPosition = async (client: ClientBase): Promise<bigint> => {
  const { rows } = await client.query<{ last: string }>(
    'select coalesce(max(position), 0) as last from eventstore.event',
  );
  return BigInt(rows[0]!.last);
};
