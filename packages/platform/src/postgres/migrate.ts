import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientConfig, QueryConfig } from 'pg';
import { ConfigError, FatalStartError, readConfig, ServiceConfig } from '../config/config.ts';
import { createLogger } from '../log/logger.ts';
import { writeFailure, writeLine } from '../log/write-line.ts';
import { type Environment, isReadable, isStamped, requireEnvironment } from './environment.ts';
import { requireOwnSession } from './own-session.ts';
import { createPool, type Pool, type Queryable, transaction } from './pool.ts';

const FILE_NAME = /^(\d{3})-[a-z0-9-]+\.sql$/;

export interface Migrations {
  readonly schema: string;
  /** Folder of the numbered files. */
  readonly folder: string;
}

interface MigrationFile {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly hash: string;
}

/** Applies the numbered files (`001-orders.sql`) that a schema does not have yet, in order, in one transaction.
 *  Instances that start together wait for each other. Throws FatalStartError when the schema began with another file,
 *  and Error when an applied file was changed afterwards, or when the database has a migration that this program does
 *  not have. */
export const migrate = async (pool: Pool, migrations: Migrations): Promise<void> =>
  transaction(pool, (db) => migrateInTransaction(db, migrations));

/** Brings a schema up to date, and stamps it with its environment. Looks first, so that a role without the rights of
 *  the owner finds a schema that its owner has prepared. Changes nothing and throws WrongEnvironmentError when the
 *  schema belongs to another environment, FatalStartError when a version before 0.2.0 made it, SharedSessionError when
 *  a pooler gives the sessions of the pool to several clients, and ConfigError when only the owner may change the
 *  schema. */
export const prepareSchema = async (pool: Pool, schema: OwnSchema): Promise<void> => {
  await requireOwnSessions(pool);
  if (await isPrepared(pool, schema)) return;
  await prepareAsOwner(pool, schema);
};

/** The schema of a service, and the environment to which it belongs. */
interface OwnSchema extends Migrations {
  readonly environment: Environment;
}

/** Migrates and stamps a schema, and grants the roles of the services what they need of it. Resolves to whether these
 *  roles exist. Throws like `prepareSchema`. */
export const prepareAsOwner = async (pool: Pool, { environment, ...migrations }: OwnSchema): Promise<boolean> => {
  try {
    return await transaction(pool, async (db) => {
      await lockSchema(db, migrations.schema);
      await requireEnvironment(db, migrations.schema, environment);
      await migrateInTransaction(db, migrations);
      return applyGrants(db, migrations);
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new ConfigError(
      `schema ${migrations.schema} is not up to date, and the role in DATABASE_URL may not change it: run "admin migrate" with the DATABASE_URL of the owner`,
      { cause: error },
    );
  }
};

const INSUFFICIENT_PRIVILEGE = '42501';

const isPrepared = async (db: Queryable, { environment, schema, folder }: OwnSchema): Promise<boolean> => {
  if (!(await isStamped(db, schema, environment)) || !(await isReadable(db, schema, 'migrations'))) return false;
  const files = await readMigrationFiles(folder);
  const applied = await appliedMigrations(db, schema, files);
  return files.every(({ number }) => applied.has(number));
};

const requireOwnSessions = async (pool: Pool): Promise<void> => {
  const connection = await pool.connect();
  try {
    await requireOwnSession(connection, pool.options.connectionString!);
  } finally {
    connection.release();
  }
};

/** Migrates inside the caller's transaction. Sets `search_path` to the schema and turns the statement timeout off until
 *  that transaction ends. */
export const migrateInTransaction = async (db: Queryable, { schema, folder }: Migrations): Promise<void> => {
  const files = await readMigrationFiles(folder);
  await lockSchema(db, schema);
  await db.query(`create schema if not exists ${schema}`);
  await db.query(
    `create table if not exists ${schema}.migrations (number int primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`,
  );
  const applied = await appliedMigrations(db, schema, files);
  for (const file of files.filter(({ number }) => !applied.has(number))) {
    await db.query(`set local search_path to ${schema}`);
    await db.query(withoutTimeout(file.sql));
    await db.query(`insert into ${schema}.migrations (number, name, hash) values ($1, $2, $3)`, [
      file.number,
      file.name,
      file.hash,
    ]);
  }
};

const lockSchema = async (db: Queryable, schema: string): Promise<void> => {
  await db.query('set local statement_timeout = 0');
  await db.query(withoutTimeout('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`migrate ${schema}`]));
};

/** Numbers of the applied migrations. Throws when one of them is missing from `files` or differs; FatalStartError when
 *  that is the first one. */
const appliedMigrations = async (
  db: Queryable,
  schema: string,
  files: readonly MigrationFile[],
): Promise<Set<number>> => {
  const { rows } = await db.query<{ number: number; name: string; hash: string }>(
    `select number, name, hash from ${schema}.migrations`,
  );
  const first = rows.find(({ number }) => number === files[0]?.number);
  if (first && first.name !== files[0]!.name)
    throw new FatalStartError(
      `schema ${schema} of the database at DATABASE_URL begins with the migration ${first.name}, so a version before 0.2.0 made it, and no later version reads its data: start with an empty database, event store and Kafka cluster ("npm run reset" empties local ones)`,
    );
  for (const { number, name, hash } of rows) {
    const file = files.find((candidate) => candidate.number === number);
    if (!file)
      throw new Error(
        `schema ${schema} has migration ${name}, which this program does not have: a newer version of the program applied it`,
      );
    if (file.hash !== hash) throw new Error(`migration ${name} of schema ${schema} was changed after it was applied`);
  }
  return new Set(rows.map((row) => row.number));
};

const ONE_DAY_MS = 24 * 60 * 60 * 1000;

/** Overrides the pool's query timeout: a migration of a large table may take longer, and a retry would time out
 *  again. */
export const withoutTimeout = (text: string, values?: unknown[]): QueryConfig & ClientConfig => ({
  text,
  ...(values && { values }),
  query_timeout: ONE_DAY_MS,
});

const readMigrationFiles = async (folder: string): Promise<MigrationFile[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql') && name !== GRANTS_FILE).sort();
  return Promise.all(
    names.map(async (name) => {
      const number = FILE_NAME.exec(name)?.[1];
      if (!number) throw new Error(`migration file ${name} must be named like 001-orders.sql`);
      const sql = await readFile(join(folder, name), 'utf8');
      return { number: Number(number), name, sql, hash: createHash('sha256').update(sql).digest('hex') };
    }),
  );
};

/** The database roles of the services. The file `grants.sql` of each service names them. */
export const SERVICE_ROLES = ['cpg_gateway', 'cpg_orders', 'cpg_payments', 'cpg_webhook_dispatcher'] as const;

/** The file of grants in a folder of migrations. */
const GRANTS_FILE = 'grants.sql';

/** Gives the roles of the services the privileges on a schema that its file of grants lists, and no others. Does
 *  nothing while none of the roles exists: then one role does everything. Run it in the transaction of the migrations.
 *  Throws ConfigError when only some of the roles exist. */
export const applyGrants = async (
  db: Queryable,
  { schema, folder }: { schema: string; folder: string },
): Promise<boolean> => {
  const file = join(folder, GRANTS_FILE);
  if (!existsSync(file) || !(await hasServiceRoles(db))) return false;
  const roles = SERVICE_ROLES.join(', ');
  await db.query(`revoke all on schema ${schema} from ${roles}`);
  for (const objects of ['tables', 'sequences', 'functions'])
    await db.query(`revoke all on all ${objects} in schema ${schema} from ${roles}`);
  await db.query(`set local search_path to ${schema}`);
  await db.query(await readFile(file, 'utf8'));
  return true;
};

const hasServiceRoles = async (db: Queryable): Promise<boolean> => {
  const { rows } = await db.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = any($1::text[])',
    [SERVICE_ROLES],
  );
  const missing = SERVICE_ROLES.filter((role) => !rows.some(({ name }) => name === role));
  if (rows.length === 0 || missing.length === 0) return rows.length > 0;
  throw new ConfigError(
    `PostgreSQL has the role ${rows[0]!.name}, but not ${missing.join(', ')}: create one role for each service`,
  );
};

const Config = ServiceConfig.pick({ ENVIRONMENT: true, DATABASE_URL: true });

/** Runs the operator's command that prepares the schema of a service as its owner. Resolves to the exit code. */
export const runMigrateCommand = async (migrations: Migrations, env: NodeJS.ProcessEnv): Promise<number> => {
  try {
    const { ENVIRONMENT: environment, DATABASE_URL: url } = readConfig(Config, env);
    const pool = createPool({ url, name: 'admin', max: 1, log: createLogger({ name: 'admin', level: 'warn' }) });
    const isGranted = await prepareAsOwner(pool, { ...migrations, environment }).finally(() => pool.end());
    const grants = isGranted ? 'has its grants' : `has no grants: the roles ${SERVICE_ROLES.join(', ')} do not exist`;
    await writeLine(`schema ${migrations.schema} is up to date and ${grants}`);
    return 0;
  } catch (error) {
    writeFailure(error, error instanceof ConfigError || error instanceof FatalStartError);
    return 2;
  }
};
