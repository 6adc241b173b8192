import { randomUUID } from 'node:crypto';
import { endOf, eventIdOf, type EventMetadata, seal } from '@cpg/event-sourcing';
import type { ClientBase } from 'pg';

/** An event as the embedded event store keeps it, without its position in the log. */
export interface EventRow {
  readonly uuid: string;
  readonly type: string;
  /** When it was recorded: 100 ns since 1970, as text. */
  readonly created: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: EventMetadata;
}

const READ = `select id as uuid, type, created, convert_from(data, 'utf8') as data, convert_from(metadata, 'utf8') as metadata
                from eventstore.event where stream = $1 order by revision`;

/** The events of a stream. Throws if it has none. */
export const readStream = async (db: ClientBase, stream: string): Promise<EventRow[]> => {
  const { rows } = await db.query<Record<keyof EventRow, string>>(READ, [stream]);
  if (rows.length === 0) throw new Error(`there is no stream ${stream}`);
  return rows.map((row) => ({
    ...row,
    data: JSON.parse(row.data) as EventRow['data'],
    metadata: JSON.parse(row.metadata) as EventMetadata,
  }));
};

const INSERT = `insert into eventstore.event (position, stream, revision, id, type, is_json, created, data, metadata)
                values ($1, $2, $3, $4, $5, true, $6, convert_to($7, 'utf8'), convert_to($8, 'utf8'))`;

/** Puts rows in the place of a stream, which may not exist. They take its positions in the log; more rows get new ones
 *  at the end, and the stream stays in the order of the log. */
export const writeStream = async (db: ClientBase, stream: string, rows: readonly EventRow[]): Promise<void> => {
  const removed = await db.query<{ position: string }>(
    'delete from eventstore.event where stream = $1 returning position',
    [stream],
  );
  const positions = removed.rows
    .map(({ position }) => BigInt(position))
    .toSorted((one, other) => (one < other ? -1 : 1));
  let end = await endOfLog(db, positions.at(-1) ?? 0n);
  for (const [revision, { uuid, type, created, data, metadata }] of rows.entries()) {
    const position = positions[revision] ?? (end += 1n);
    const texts = [JSON.stringify(data), JSON.stringify(metadata)];
    await db.query(INSERT, [position, stream, revision, uuid, type, created, ...texts]);
  }
};

const endOfLog = async (db: ClientBase, atLeast: bigint): Promise<bigint> => {
  const { rows } = await db.query<{ last: string }>(
    'select greatest(max(position), $1::bigint) as last from eventstore.event',
    [atLeast],
  );
  return BigInt(rows[0]!.last);
};

/** Rows with every link and hash of their stream computed again: consistent in themselves. */
export const rehashed = (stream: string, rows: readonly EventRow[]): EventRow[] => {
  let end = endOf(stream, null);
  return rows.map((row) => {
    const event = { type: row.type, data: row.data };
    const metadata = { ...row.metadata, previousHash: end.hash };
    const sealed = seal({ stream, revision: end.revision + 1, id: eventIdOf(row.uuid), event, metadata });
    end = endOf(stream, sealed);
    return { ...row, metadata: sealed.metadata };
  });
};

/** A new event that looks as if the request of another one had caused it. */
export const rowLike = (row: EventRow, type: string, data: EventRow['data']): EventRow => ({
  ...row,
  uuid: randomUUID(),
  type,
  data: { ...data, at: row.data.at },
});

/** Puts the tombstone of a stream in its place, as the event store does when a stream is deleted. */
export const writeTombstone = async (db: ClientBase, stream: string): Promise<void> => {
  await writeStream(db, stream, []);
  await db.query(
    `insert into eventstore.event (position, stream, revision, id, type, is_json, created, data, metadata)
     select max(position) + 1, $1, 9223372036854775807, $2, '$streamDeleted', false, max(created), '', ''
       from eventstore.event`,
    [stream, randomUUID()],
  );
};
