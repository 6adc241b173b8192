import {
  checkpointsInUse,
  type LogPosition,
  moveCheckpoint,
  positionOf,
  type Projection,
  readCheckpoints,
  readStoreIdentity,
  RELAY,
  verified,
} from '@cpg/event-sourcing';
import { type Pool, transaction } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { ProjectionError } from '../read-models/shadow-tables.ts';

export interface RepublishOptions {
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
    if (current && (!from || BigInt(from.commit) < BigInt(current.commit))) ahead.push(shard.name);
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
