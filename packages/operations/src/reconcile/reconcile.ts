import { wallClock } from '@cpg/platform';
import {
  checkpointsInUse,
  moveCheckpoint,
  nameOf,
  type Projection,
  readCheckpoints,
  readStoreIdentity,
  RELAY,
  type StoreIdentity,
  tablesOf,
  UnknownStoreError,
  verified,
} from '@cpg/event-sourcing';
import { type Environment, type Pool, stampsOf, transaction } from '@cpg/platform/postgres';
import type { Kafka } from 'kafkajs';
import { identifyStore } from '../service/own-store.ts';
import { rebuild } from '../read-models/rebuild.ts';
import { ProjectionError, type ShadowTableOptions, withShadowTables } from '../read-models/shadow-tables.ts';
import { DELIVERIES, findGoneDeliveries, findGoneMessages, findGoneRows, type GoneList, goneList } from './gone.ts';
import { readStoreEvents } from './store-events.ts';

/** Where the events of a service go. */
export interface Published {
  readonly topic: string;
  /** Begins the names of their webhook events. */
  readonly objectType: 'order' | 'payment';
}

export interface ReconcileOptions extends ShadowTableOptions {
  readonly pool: Pool;
  readonly kafka: Kafka;
  readonly moreProjections: readonly Projection[];
  readonly published: Published;
  /** For the file of what is gone. */
  readonly folder: string;
  /** Whether to follow the event store from now on; otherwise nothing is changed. */
  readonly apply: boolean;
  readonly print: (line: string) => void;
}

/** Compares the read model, deliveries and Kafka messages of a service with its event store, and tells what no event
 *  results in any more. With `apply` the service follows the store as it is: read models are rebuilt, then checkpoints
 *  go back to the last event that was published. Safe to stop and to repeat. Resolves to true when nothing differs, or
 *  everything was applied. */
export const reconcile = async (options: ReconcileOptions): Promise<boolean> => {
  const { client, pool, projection, published, apply, print } = options;
  const { schema } = projection;
  const identity = await readStoreIdentity(client);
  print(`event store: ${identity ? `${identity.storeId} (${identity.environment})` : 'no identity'}`);
  const unknown = await unknownCheckpoints(options, identity);
  const relays = await checkpointsInUse(pool, { schema, name: RELAY });
  const { gone, behind, lastKnown } = await compare(options, Math.max(1, relays.length));
  const path = gone.close();
  for (const where of [...tablesOf(projection), DELIVERIES, published.topic]) report(gone, where, print);
  if (behind > 0) print(`${nameOf(projection)}: ${behind} rows are missing or older than the event store`);
  if (path) print(`listed in ${path}`);
  if (unknown.length === 0 && gone.total() === 0 && behind === 0) {
    print(`schema ${schema} and ${published.topic} agree with the event store`);
    return true;
  }
  if (!apply) {
    print('nothing was changed: run it again with --apply to follow this event store');
    return unknown.length === 0 && gone.total() === 0;
  }
  const known = identity ?? (await identify(options));
  for (const each of [projection, ...options.moreProjections]) {
    await each.keepRows?.(pool);
    await rebuild({ ...options, projection: each });
    print(`${tablesOf(each).join(', ')} rebuilt`);
  }
  // A relay goes on after the last event of its shard that was published. The projection reads the whole log, to finish
  // whatever the log begins.
  const resets = unknown.map((name) => ({ name, position: lastKnown[relays.indexOf(name)] ?? null }));
  await transaction(pool, async (db) => {
    for (const { name, position } of resets)
      await moveCheckpoint(db, { schema, name, storeId: known.storeId }, position);
  });
  for (const { name, position } of resets) {
    print(`checkpoint ${schema}.${name} set back to ${position ? `position ${position.commit}` : 'the start'}`);
  }
  return true;
};

/** The checkpoints that do not know the event store; tells why. */
const unknownCheckpoints = async (
  { client, pool, projection: { schema }, print }: ReconcileOptions,
  identity: StoreIdentity | null,
): Promise<string[]> => {
  const unknown = [];
  for (const checkpoint of await readCheckpoints(pool, schema)) {
    try {
      await verified(client, identity, schema, checkpoint);
    } catch (error) {
      if (!(error instanceof UnknownStoreError)) throw error;
      unknown.push(checkpoint.name);
      print(error.fact);
    }
  }
  return unknown;
};

const compare = (options: ReconcileOptions, shards: number) =>
  withShadowTables(options, async (shadow, signal) => {
    const { client, kafka, projection, published, folder, print } = options;
    const { prefixes, schema } = projection;
    const gone = goneList(folder, schema, wallClock());
    const behind = await findGoneRows(shadow, projection, signal, gone);
    const store = await readStoreEvents(shadow.session, { client, prefixes, shards, signal });
    if (!(await findGoneDeliveries(shadow.session, { ...published, prefixes }, store, gone)))
      print(`${DELIVERIES}: not compared, because DATABASE_URL cannot read them`);
    await findGoneMessages(kafka, { ...published, prefixes }, store, gone);
    const lastKnown = [];
    for (let shard = 0; shard < shards; shard += 1) lastKnown.push(await store.lastKnown(shard));
    return { gone, behind, lastKnown };
  });

const report = (gone: GoneList, where: string, print: (line: string) => void): void => {
  const { count, ids } = gone.of(where);
  if (count === 0) return;
  const more = count > ids.length ? `, and ${count - ids.length} more` : '';
  print(`${where}: ${count} without events in the event store: ${ids.join(', ')}${more}`);
};

const identify = async ({ client, pool, projection: { schema } }: ReconcileOptions): Promise<StoreIdentity> => {
  const stamp = (await stampsOf(pool)).find((known) => known.schema === schema);
  if (!stamp) throw new ProjectionError(`schema ${schema} has no environment: start its service first`);
  return identifyStore({ client, environment: stamp.environment as Environment, name: 'admin' });
};
