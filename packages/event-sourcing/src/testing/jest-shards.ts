import { connectEventStore } from '../store/connect.ts';
import type { Publisher } from '@cpg/platform/kafka';
import { createPool } from '@cpg/platform/postgres';
import { createLogger } from '@cpg/platform';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { startProjection } from '../followers/projection.ts';
import { startRelay } from '../followers/relay.ts';
import { startTallies } from './jest-tallies.ts';

const log = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });

export const ORDERS = ['a', 'b', 'c', 'd', 'e', 'f'];

interface Published {
  /** Stream and revision, such as `tally-a#0`. */
  readonly id: string;
  readonly checkpoint: string;
  /** The process. */
  readonly by: string;
}

/** A topic that fences publishers as Kafka does: by their checkpoint. */
const transactionalTopic = () => {
  const epochs = new Map<string, number>();
  const published: Published[] = [];
  const publisherOf =
    (by: string, beforeSend: () => Promise<void>) =>
    (checkpoint: string): Publisher => {
      let epoch = 0;
      const requireEpoch = () => {
        if (epochs.get(checkpoint) !== epoch) throw Object.assign(new Error('fenced'), { type: 'PRODUCER_FENCED' });
      };
      return {
        open: async () => void epochs.set(checkpoint, (epoch = (epochs.get(checkpoint) ?? 0) + 1)),
        send: async (_topic, messages) => {
          await beforeSend();
          requireEpoch();
          published.push(...messages.map(({ id }) => ({ id, checkpoint, by })));
        },
        commit: async () => requireEpoch(),
        close: async () => {},
      };
    };
  return { published, publisherOf };
};

/** A small event-sourced service whose relay and projection run in shards, in any number of processes. */
export const startShardedTallies = async () => {
  const tallies = await startTallies();
  const { published, publisherOf } = transactionalTopic();
  const stopping: (() => unknown)[] = [];
  const idsOf = (order: string) =>
    published.filter(({ id }) => id.startsWith(`tally-${order}#`)).map(({ id }) => Number(id.split('#')[1]));
  return {
    ...tallies,
    published,
    /** Runs relay and projection in so many shards, as a separate process would. */
    startProcess: (by: string, shards: number, beforeSend: () => Promise<void> = async () => {}) => {
      const { databaseUrl, projection, eventStoreUrl } = tallies;
      const pool = createPool({ url: databaseUrl, name: by, max: 4, log });
      const client = connectEventStore(eventStoreUrl);
      const { schema, prefixes } = projection;
      const options = { client, pool, databaseUrl, shards, log };
      const messageOf = async ({ event }: AllStreamResolvedEvent) =>
        ({ id: `${event!.streamId}#${event!.revision}` }) as never;
      const publisherFor = publisherOf(by, beforeSend);
      const parts = [
        startRelay({ ...options, schema, prefixes, publisherFor, topic: 'orders.v1', messageOf }),
        startProjection({ ...options, projection, pauseMs: () => 0 }),
      ];
      let stopped: Promise<void> | undefined;
      const stop = () =>
        (stopped ??= (async () => {
          await Promise.all(parts.map((part) => part.stop()));
          await client.dispose();
          await pool.end();
        })());
      stopping.push(stop);
      return { stop };
    },
    tallyAll: async () => {
      for (const order of ORDERS) await tallies.tally(order, 1);
    },
    /** The published revisions of an order. */
    idsOf,
    /** Whether so many events of each order were published. */
    hasAll: (events: number) => ORDERS.every((order) => idsOf(order).includes(events - 1)),
    checkpoints: async (condition = 'retired_at is null'): Promise<string[]> => {
      const query = `select name from tallies.checkpoints where ${condition} order by name`;
      return (await tallies.pool.query<{ name: string }>(query)).rows.map(({ name }) => name);
    },
    /** Throws when an event of an order was published before an earlier one, or left out. */
    requireOrder: () => {
      for (const order of ORDERS) {
        let last = -1;
        for (const revision of idsOf(order)) {
          if (revision > last + 1) throw new Error(`${order}: ${revision} follows ${last}`);
          last = revision;
        }
      }
    },
    stop: async () => {
      for (const stop of stopping.reverse()) await stop();
      await tallies.stop();
    },
  };
};
