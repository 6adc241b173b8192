import { eventIdOf, isDeletedStream, type LogPosition, positionOf, rawEventsOf, readLog } from '@cpg/event-store';
import type { Queryable } from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';

/** The ids of all events in the store, to compare others with. */
export interface StoreEvents {
  readonly count: number;
  /** Those of `events` that the store does not have. The events of deleted streams are not among them: they may be
   *  removed. `streams` are those in which an event may be. */
  readonly missing: <T extends { id: string; streams: readonly string[] }>(events: readonly T[]) => Promise<T[]>;
  /** The position of the last event that `missing` was asked about and that the store has; null without one. */
  readonly lastKnown: () => Promise<LogPosition | null>;
}

/** Reads the log into a temporary table of `session`. */
export const readStoreEvents = async (
  session: Queryable,
  { client, prefixes, signal }: { client: EventStoreDBClient; prefixes: readonly string[]; signal: AbortSignal },
): Promise<StoreEvents> => {
  await session.query(
    'create temporary table store_events (id text primary key, number bigint not null, position jsonb not null)',
  );
  let count = 0;
  await readLog(client, {
    from: null,
    prefixes,
    signal,
    handle: async (events) => {
      await session.query(
        `insert into store_events select * from unnest($1::text[], $2::bigint[], $3::jsonb[]) on conflict do nothing`,
        [
          events.map(({ event }) => storedId(event!)),
          events.map((_, index) => count + index),
          events.map((entry) => JSON.stringify(positionOf(entry))),
        ],
      );
      count += events.length;
    },
  });
  let last = -1n;
  return {
    count,
    missing: async (events) => {
      const { rows } = await session.query<{ id: string; number: string | null }>(
        'select asked.id, number from unnest($1::text[]) as asked (id) left join store_events using (id)',
        [events.map(({ id }) => id)],
      );
      for (const { number } of rows) if (number !== null && BigInt(number) > last) last = BigInt(number);
      const unknown = new Set(rows.filter(({ number }) => number === null).map(({ id }) => id));
      const missing = [];
      for (const event of events.filter(({ id }) => unknown.has(id)))
        if (!(await mayBeIn(client, event))) missing.push(event);
      return missing;
    },
    lastKnown: async () => {
      const { rows } = await session.query<{ position: LogPosition }>(
        'select position from store_events where number = $1',
        [String(last)],
      );
      return rows[0]?.position ?? null;
    },
  };
};

/** A tombstone has an id of the server, which is none of ours. */
const storedId = ({ id, type }: { id: string; type: string }): string => (type.startsWith('$') ? id : eventIdOf(id));

/** Whether a stream has the event after all, or was deleted. */
const mayBeIn = async (
  client: EventStoreDBClient,
  { id, streams }: { id: string; streams: readonly string[] },
): Promise<boolean> => {
  for (const stream of streams) {
    if (await isDeletedStream(client, stream)) return true;
    for await (const { event } of rawEventsOf(client, stream)) if (event && storedId(event) === id) return true;
  }
  return false;
};
