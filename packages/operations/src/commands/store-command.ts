import { parseArgs } from 'node:util';
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
import { createLogger, KafkaConfig, readConfig } from '@cpg/platform';
import { createKafka } from '@cpg/platform/kafka';
import { createPool, type Pool, transaction } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { ProjectionError, type ShadowTableOptions } from '../read-models/shadow-tables.ts';
import { type Published, reconcile } from '../reconcile/reconcile.ts';

const USAGE = `  store reconcile [--apply] [--folder F]  shows which rows, deliveries and Kafka messages have no event in the event store, and
                                          lists them in a file; --apply makes the service follow this store
  store republish --since TIME            publishes every event that was recorded since then again, under the same ids`;

interface StoreCommandOptions extends ShadowTableOptions {
  readonly moreProjections: readonly Projection[];
  readonly published: Published;
  readonly env: NodeJS.ProcessEnv;
  readonly print: (line: string) => void;
}

/** Runs an operator's command on the event store and what follows it. Resolves to the exit code: 0, or 1 for
 *  differences. */
export const runStoreCommand = async (args: readonly string[], options: StoreCommandOptions): Promise<number> => {
  const { projection, databaseUrl, print } = options;
  const { verb, since, apply, folder } = parse(args);
  const log = createLogger({ name: 'admin', level: 'silent' });
  const pool = createPool({ url: databaseUrl, name: 'admin', max: 2, log });
  try {
    if (verb === 'republish') {
      if (!since || Number.isNaN(since.getTime())) throw new ProjectionError(USAGE);
      const isMoved = await republish({ ...options, pool, since });
      const done = isMoved ? `publishes again what was recorded since ${since.toISOString()}` : 'has that still to do';
      print(`${projection.schema}: the relay ${done}`);
      return 0;
    }
    const kafka = createKafka(readConfig(KafkaConfig, options.env), { clientId: 'admin', log });
    return (await reconcile({ ...options, pool, kafka, folder, apply })) ? 0 : 1;
  } finally {
    await pool.end();
  }
};

const parse = (args: readonly string[]) => {
  const options = {
    apply: { type: 'boolean', default: false },
    folder: { type: 'string', default: '.' },
    since: { type: 'string' },
  } as const;
  try {
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [verb, ...rest] = positionals;
    if ((verb === 'reconcile' || verb === 'republish') && rest.length === 0)
      return { ...values, verb, since: values.since === undefined ? null : new Date(values.since) };
  } catch {
    // The usage tells.
  }
  throw new ProjectionError(USAGE);
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
