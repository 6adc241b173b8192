import { FatalStartError } from '../config/config.ts';
import { type Pool, type Queryable, transaction } from './pool.ts';

export type Environment = 'sandbox' | 'production';

/** A schema or a store belongs to another environment than the service. */
export class WrongEnvironmentError extends FatalStartError {
  override readonly name = 'WrongEnvironmentError';
}

const STAMP = 'environment_stamp';

const createStamp = (schema: string): string =>
  `create table if not exists ${schema}.${STAMP}
     (one boolean primary key default true check (one), environment text not null, stamped_at timestamptz not null default now())`;

/** Stamps a schema with the environment of the service, or checks the stamp that it has. A schema without a stamp takes
 *  the environment that its database shows: by the stamps of other schemas, then by API keys. Throws
 *  WrongEnvironmentError. Run it in a transaction. */
export const requireEnvironment = async (db: Queryable, schema: string, environment: Environment): Promise<void> => {
  await db.query(`create schema if not exists ${schema}`);
  await db.query(createStamp(schema));
  if (await checkedStamp(db, schema, environment)) return;
  // Services that start together must not stamp one database with two environments.
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [STAMP]);
  if (!(await requireSameStamps(db, environment))) await requireMatchingKeys(db, environment);
  await db.query(`insert into ${schema}.${STAMP} (environment) values ($1)`, [environment]);
};

/** Whether a schema has the stamp of the environment, and this user may read it. Throws WrongEnvironmentError when it
 *  has another one. */
export const isStamped = async (db: Queryable, schema: string, environment: Environment): Promise<boolean> =>
  (await isReadable(db, schema, STAMP)) && (await checkedStamp(db, schema, environment));

/** Stamps the migrated schemas that have no stamp, whatever their data shows: the operator has decided. Throws
 *  WrongEnvironmentError when a stamp of another environment exists. */
export const stampSchemas = (pool: Pool, environment: Environment): Promise<void> =>
  transaction(pool, async (db) => {
    await requireSameStamps(db, environment);
    const { rows } = await db.query<{ schema: string }>(
      `select n.nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relname = 'migrations' and ${READABLE}`,
    );
    for (const { schema } of rows) {
      await db.query(createStamp(schema));
      await db.query(`insert into ${schema}.${STAMP} (environment) values ($1) on conflict do nothing`, [environment]);
    }
  });

/** The stamps of all schemas of a database that this user may read. */
export const stampsOf = async (db: Queryable): Promise<{ schema: string; environment: string }[]> => {
  const { rows } = await db.query<{ schema: string }>(
    `select n.nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relname = $1 and ${READABLE} order by n.nspname`,
    [STAMP],
  );
  const stamps = [];
  for (const { schema } of rows) {
    const environment = await stampOf(db, schema);
    if (environment !== null) stamps.push({ schema, environment });
  }
  return stamps;
};

const READABLE = `c.relkind in ('r', 'p', 'v') and has_schema_privilege(n.oid, 'usage') and has_any_column_privilege(c.oid, 'select')`;

const stampOf = async (db: Queryable, schema: string): Promise<string | null> => {
  const { rows } = await db.query<{ environment: string }>(`select environment from ${schema}.${STAMP}`);
  return rows[0]?.environment ?? null;
};

const checkedStamp = async (db: Queryable, schema: string, environment: Environment): Promise<boolean> => {
  const stamp = await stampOf(db, schema);
  if (stamp !== null && stamp !== environment)
    throw refusal(environment, `schema ${schema} of the database at DATABASE_URL belongs to ${stamp}`);
  return stamp !== null;
};

/** Returns whether a schema of the database has a stamp. Throws WrongEnvironmentError for one that differs. */
const requireSameStamps = async (db: Queryable, environment: Environment): Promise<boolean> => {
  const stamps = await stampsOf(db);
  for (const { schema } of stamps) await checkedStamp(db, schema, environment);
  return stamps.length > 0;
};

/** Data of versions that made no stamps shows its environment by its API keys. Live keys decide: production is the
 *  environment to protect. */
const requireMatchingKeys = async (db: Queryable, environment: Environment): Promise<void> => {
  if (!(await isReadable(db, 'gateway', 'api_keys'))) return;
  const { rows } = await db.query<{ environment: string }>('select distinct environment from gateway.api_keys');
  if (rows.length === 0) return;
  const live = rows.some((row) => row.environment === 'live');
  if (live === (environment === 'production')) return;
  throw refusal(
    environment,
    `the database at DATABASE_URL has ${live ? 'live' : 'only sandbox'} API keys, so it belongs to ${live ? 'production' : 'a sandbox'}`,
  );
};

/** Whether a table or view exists and this user may read it. */
export const isReadable = async (db: Queryable, schema: string, table: string): Promise<boolean> => {
  const { rowCount } = await db.query(
    `select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relname = $2 and ${READABLE}`,
    [schema, table],
  );
  return rowCount === 1;
};

const refusal = (environment: Environment, fact: string): WrongEnvironmentError =>
  new WrongEnvironmentError(`ENVIRONMENT is ${environment}, but ${fact}: correct ENVIRONMENT or the address`);
