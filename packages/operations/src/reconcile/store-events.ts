import {
  eventIdOf,
  isDeletedStream,
  type LogPosition,
  positionOf,
  rawEventsOf,
  readLog,
  shardOf,
} from '@cpg/event-sourcing';
import type { Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';

/** An event that a Kafka message or a webhook delivery shows; `streams` are those that may contain it. */
export interface PublishedEvent {
  readonly id: string;
  readonly orderId: string;
  readonly streams: readonly string[];
}

/** The events of the store, to compare published ones with. */
export interface StoreEvents {
  /** Those of `events` that the store does not have. An event of a deleted stream is never among them: the deletion may
   *  have removed it. */
  readonly missing: <T extends PublishedEvent>(events: readonly T[]) => Promise<T[]>;
  /** The position of the last event of a shard, among those that `missing` was asked about and that the store has; null
   *  if there is none. */
  readonly lastKnown: (shard: number) => Promise<LogPosition | null>;
}

export interface StoreEventsOptions {
  readonly client: EventStoreDBClient;
  /** Prefixes of the streams to read. */
  readonly prefixes: readonly string[];
  /** The number of shards of the relay, which publishes the log to Kafka: each shard publishes its own part. */
  readonly shards: number;
  readonly signal: AbortSignal;
}

/** Reads the log into a temporary table of `session`. */
export const readStoreEvents = async (
  session: Queryable,
  { client, prefixes, shards, signal }: StoreEventsOptions,
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
  const last = Array.from({ length: shards }, () => -1n);
  return {
    missing: async (events) => {
      const { rows } = await session.query<{ id: string; number: string }>(
        'select id, number from store_events where id = any($1)',
        [events.map(({ id }) => id)],
      );
      const numbers = new Map(rows.map(({ id, number }) => [id, BigInt(number)]));
      const missing = [];
      for (const event of events) {
        const number = numbers.get(event.id);
        const shard = shardOf(event.orderId, shards);
        if (number === undefined) {
          if (!(await mayBeIn(client, event))) missing.push(event);
        } else if (number > last[shard]!) last[shard] = number;
      }
      return missing;
    },
    lastKnown: async (shard) => {
      const { rows } = await session.query<{ position: LogPosition }>(
        'select position from store_events where number = $1',
        [String(last[shard])],
      );
      return rows[0]?.position ?? null;
    },
  };
};

/** A tombstone has an id of the server, which is none of ours. */
const storedId = ({ id, type }: { id: string; type: string }): string => (type.startsWith('$') ? id : eventIdOf(id));

/** Whether a stream has the event after all, because it was recorded after the log was read, or was deleted. */
const mayBeIn = async (client: EventStoreDBClient, { id, streams }: PublishedEvent): Promise<boolean> => {
  for (const stream of streams) {
    if (await isDeletedStream(client, stream)) return true;
    for await (const { event } of rawEventsOf(client, stream)) if (event && storedId(event) === id) return true;
  }
  return false;
};
