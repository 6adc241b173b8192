import { STORE_FORMAT } from '@cpg/contracts';
import {
  firstEventData,
  isKnownStream,
  nameOf,
  type Projection,
  readStoreIdentity,
  type StoreIdentity,
  writeStoreIdentity,
} from '@cpg/event-sourcing';
import { type Environment, isReadable, type Queryable, WrongEnvironmentError } from '@cpg/platform/postgres';
import { FatalStartError, newUlid, wallClock } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';

export interface OwnStoreOptions {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly projection: Pick<Projection, 'schema' | 'tables' | 'prefixes'>;
  readonly environment: Environment;
  /** The service, for the metadata of the identity. */
  readonly name: string;
}

/** Identifies the event store at the first start, or checks that it belongs to the environment of the service. A store
 *  that has events but no identity must have the events of this database. Throws WrongEnvironmentError, and
 *  FatalStartError for another format of events. */
export const requireOwnStore = async (options: OwnStoreOptions): Promise<StoreIdentity> => {
  const { client, environment } = options;
  const known = await requireEnvironment(client, environment);
  if (known) return known;
  await requireKnownEvents(options);
  await identifyStore(options);
  return (await requireEnvironment(client, environment))!;
};

/** Returns the identity of the event store, or null for a store without one. Throws WrongEnvironmentError if it belongs
 *  to another environment, and FatalStartError if this version does not read its format of events. */
export const requireEnvironment = async (
  client: EventStoreDBClient,
  environment: Environment,
): Promise<StoreIdentity | null> => {
  const identity = await readStoreIdentity(client);
  if (identity && identity.format !== STORE_FORMAT)
    throw new FatalStartError(
      `the event store at EVENTSTORE_URL has events of ${identity.format === undefined ? 'a version before 0.2.0' : `format ${identity.format}`}, which this version does not read: start with an empty database, event store and Kafka cluster ("npm run reset" empties local ones), or run the version that wrote them`,
    );
  if (!identity || identity.environment === environment) return identity;
  throw new WrongEnvironmentError(
    `ENVIRONMENT is ${environment}, but the event store at EVENTSTORE_URL belongs to ${identity.environment}: correct ENVIRONMENT or the address`,
  );
};

/** Writes the identity of an event store that has none. */
export const identifyStore = ({
  client,
  environment,
  name,
}: Pick<OwnStoreOptions, 'client' | 'environment' | 'name'>): Promise<StoreIdentity> =>
  writeStoreIdentity(
    client,
    { storeId: `sto_${newUlid()}`, environment, format: STORE_FORMAT, at: wallClock().toISOString() },
    `service:${name}`,
  );

/** Events of a store without an identity belong to this database when it has their rows, or their merchants. */
const requireKnownEvents = async ({ client, db, projection }: OwnStoreOptions): Promise<void> => {
  const [prefix] = projection.prefixes;
  const { rows } = await db.query<{ id: string }>(`select id from ${nameOf(projection)} order by id limit 1`);
  const [row] = rows;
  if (row) {
    if (await isKnownStream(client, `${prefix}${row.id}`)) return;
    throw foreign(`does not have the events of ${row.id}, which the database at DATABASE_URL has`);
  }
  const first = (await firstEventData(client, projection.prefixes)) as { merchantId?: unknown } | null;
  if (!first || (await isKnownMerchant(db, first.merchantId))) return;
  throw foreign('has events of merchants that the database at DATABASE_URL does not have');
};

const isKnownMerchant = async (db: Queryable, merchantId: unknown): Promise<boolean> => {
  if (!(await isReadable(db, 'gateway', 'merchant_ids'))) return false;
  const { rowCount } = await db.query('select from gateway.merchant_ids where id = $1', [merchantId]);
  return rowCount === 1;
};

const foreign = (fact: string): WrongEnvironmentError =>
  new WrongEnvironmentError(
    `the event store at EVENTSTORE_URL ${fact}: correct the address, or run "admin environment stamp" if the two belong together`,
  );
