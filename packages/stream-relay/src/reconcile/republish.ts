import { type LogPosition, positionOf, readStoreIdentity } from '@cpg/event-store';
import { type Pool, transaction } from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { moveCheckpoint } from '../checkpoint.ts';
import { readCheckpoints, verified } from '../known-store.ts';
import type { Projection } from '../projection.ts';
import { RELAY } from '../relay.ts';
import { ProjectionError } from '../shadow-table.ts';

export interface RepublishOptions {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  readonly projection: Pick<Projection, 'schema' | 'prefixes'>;
  readonly since: Date;
}

/** Sets the relay back to the last event that was recorded before `since`, so that it publishes every later one again:
 *  under the same ids, and in order with new ones, which wait for their turn. Resolves to false when the relay has not
 *  come as far. Throws UnknownStoreError. */
export const republish = async ({ client, pool, projection, since }: RepublishOptions): Promise<boolean> => {
  const { schema, prefixes } = projection;
  const identity = await readStoreIdentity(client);
  const [relay] = await readCheckpoints(pool, schema, 'name = $1', [RELAY]);
  if (!relay || !identity) throw new ProjectionError(`schema ${schema} has published nothing yet: start its service`);
  const current = await verified(client, identity, schema, relay);
  const from = await lastBefore(client, prefixes, since);
  if (!current || (from && BigInt(from.commit) >= BigInt(current.commit))) return false;
  await transaction(pool, (db) => moveCheckpoint(db, { schema, name: RELAY, storeId: identity.storeId }, from));
  return true;
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
