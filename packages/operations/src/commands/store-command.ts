import {
  checkpointsInUse,
  isBefore,
  type LogPosition,
  moveCheckpoint,
  positionOf,
  type Projection,
  readCheckpoints,
  readStoreIdentity,
  RELAY,
  verified,
} from '@cpg/event-sourcing';
import { createLogger, KafkaConfig, type Logger, readConfig } from '@cpg/platform';
import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import { createKafka } from '@cpg/platform/kafka';
import { createPool, type Pool, transaction } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { ProjectionError, type ShadowTableOptions } from '../read-models/shadow-tables.ts';
import { type Published, reconcile } from '../reconcile/reconcile.ts';

interface StoreCommandOptions extends ShadowTableOptions {
  readonly moreProjections: readonly Projection[];
  readonly published: Published;
  readonly env: NodeJS.ProcessEnv;
  readonly print: (line: string) => void;
}

/** Adds the commands on the event store and what follows it. */
export const addStoreCommands = (program: AdminCommand, withService: RunWith<StoreCommandOptions>): void => {
  const store = program.command('store').description('the event store and what follows it, after a restore');
  store
    .command('reconcile')
    .description('show what has no event in the event store, and list it in a file; exit code 1 for differences')
    .option('--apply', 'make the service follow this event store')
    .option('--folder <folder>', 'where to write the list', '.')
    .examples('store reconcile --folder /restore', 'store reconcile --apply')
    .runs(({ apply = false, folder }: { apply?: boolean; folder: string }) =>
      withService((options) =>
        withPool(options, async (pool, log) => {
          const kafka = createKafka(readConfig(KafkaConfig, options.env), { clientId: 'admin', log });
          return (await reconcile({ ...options, pool, kafka, folder, apply })) ? 0 : 1;
        }),
      ),
    );
  store
    .command('republish')
    .description('publish every event recorded since a time to Kafka again, under the same ids')
    .requiredOption('--since <time>', 'the time, such as 2026-01-31T12:00:00Z')
    .examples('store republish --since 2026-01-31T12:00:00Z')
    .runs(({ since: text }: { since: string }) => {
      const since = new Date(text);
      if (Number.isNaN(since.getTime()))
        throw new CommandError(`--since: ${text} is not a time: write it like 2026-01-31T12:00:00Z`);
      return withService((options) =>
        withPool(options, async (pool) => {
          const isMoved = await republish({ ...options, pool, since });
          const done = isMoved
            ? `publishes again what was recorded since ${since.toISOString()}`
            : 'has that still to do';
          options.print(`${options.projection.schema}: the relay ${done}`);
        }),
      );
    });
};

const withPool = async <T>(
  { databaseUrl }: StoreCommandOptions,
  work: (pool: Pool, log: Logger) => Promise<T>,
): Promise<T> => {
  const log = createLogger({ name: 'admin', level: 'silent' });
  const pool = createPool({ url: databaseUrl, name: 'admin', max: 2, log });
  return work(pool, log).finally(() => pool.end());
};

interface RepublishOptions {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  readonly projection: Pick<Projection, 'schema' | 'prefixes'>;
  readonly since: Date;
}

/** Sets every shard of the relay back to the last event that was recorded before `since`, so that it publishes every
 *  later one again: under the same ids, and in order with new ones, which wait for their turn. Resolves to false when
 *  none has come as far. Throws UnknownStoreError. */
export const republish = async ({ client, pool, projection, since }: RepublishOptions): Promise<boolean> => {
  const { schema, prefixes } = projection;
  const identity = await readStoreIdentity(client);
  const names = await checkpointsInUse(pool, { schema, name: RELAY });
  const shards = await readCheckpoints(pool, schema, 'name = any($1)', [names]);
  if (shards.length === 0 || !identity)
    throw new ProjectionError(`schema ${schema} has published nothing yet: start its service`);
  const from = await lastBefore(client, prefixes, since);
  const ahead: string[] = [];
  for (const shard of shards) {
    const current = await verified(client, identity, schema, shard);
    if (isBefore(from, current)) ahead.push(shard.name);
  }
  await transaction(pool, async (db) => {
    for (const name of ahead) await moveCheckpoint(db, { schema, name, storeId: identity.storeId }, from);
  });
  return ahead.length > 0;
};

/** The last event of the prefixes that was recorded before `since`; null without one. */
const lastBefore = async (
  client: EventStoreDBClient,
  prefixes: readonly string[],
  since: Date,
): Promise<LogPosition | null> => {
  for await (const entry of client.readAll({ direction: 'backwards', fromPosition: 'end' })) {
    const { event } = entry;
    if (!event || event.created >= since) continue;
    if (prefixes.some((prefix) => event.streamId.startsWith(prefix))) return positionOf(entry);
  }
  return null;
};
