import { setTimeout as sleep } from 'node:timers/promises';
import { type LogPosition, nameOf, type Projection, readVersion, writeVersion } from '@cpg/event-sourcing';
import { type Logger, retry, type Wait, withTimeoutSignal } from '@cpg/platform';
import { type Pool, type Queryable, transaction, transactionOnConnection } from '@cpg/platform/postgres';
import {
  ProjectionBusyError,
  ProjectionError,
  type ShadowTableOptions,
  type ShadowTables,
  withShadowTables,
} from './shadow-tables.ts';

// These bound how long one attempt to swap blocks writers and, behind them, readers.
const LOCK_TIMEOUT_MS = 1_000;
const LAST_EVENTS_TIMEOUT_MS = 2_000;
const SWAP_ATTEMPTS = 30;
const RETRY_DELAY_MS = 500;

/** Builds a projection again from the log while its tables are in use, and replaces the live tables in one transaction.
 *  After a crash at any point the live tables are either the old ones or the new ones, complete. Throws
 *  ProjectionError. */
export const rebuild = (options: ShadowTableOptions): Promise<void> =>
  withShadowTables(options, async (shadow, signal) => {
    let position = shadow.built;
    for (let attempt = 1; ; attempt += 1) {
      position = await shadow.catchUp(position, signal);
      try {
        return await swap(options.projection, shadow, position, signal);
      } catch (error) {
        if (attempt === SWAP_ATTEMPTS || !isRetryable(error)) throw error;
        await sleep(RETRY_DELAY_MS, undefined, { signal });
      }
    }
  });

/** The lock blocks writers, so the last `catchUp` applies every event that was answered before. Blocked writers then
 *  find the new table under the same name. Its revision check keeps their writes in order. */
const swap = (
  projection: Projection,
  shadow: ShadowTables,
  position: LogPosition | null,
  signal: AbortSignal,
): Promise<void> =>
  transactionOnConnection(shadow.session, async (db) => {
    const live = (table: string) => `${projection.schema}.${table}`;
    const rebuilt = (table: string) => `${shadow.schema}.${table}`;
    await db.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await db.query('set local synchronous_commit = on');
    await db.query(`lock table ${projection.tables.map(live).join(', ')} in share row exclusive mode`);
    await withTimeoutSignal(LAST_EVENTS_TIMEOUT_MS, signal, (limited) => shadow.catchUp(position, limited));
    await requireSameMigrations(projection, shadow);
    // Lists read the counts first. In the same order, no reader and this transaction wait for each other.
    for (const table of [...(projection.counts ?? []).map(({ name }) => name), ...projection.tables]) {
      for (const grant of await grantsOn(db, live(table), rebuilt(table))) await db.query(grant);
      const triggers = await triggersOn(db, rebuilt(table));
      // The published views keep their names and grants, and read the rebuilt table from here on.
      for (const { name, definition } of await viewsOn(db, rebuilt(table)))
        await db.query(`create or replace view ${live(name)} as ${definition}`);
      await db.query(`drop table ${live(table)}`);
      await db.query(`alter table ${rebuilt(table)} set schema ${projection.schema}`);
      for (const { name, definition } of triggers) {
        await db.query(`drop trigger ${name} on ${live(table)}`);
        await db.query(definition.replaceAll(` ${shadow.schema}.`, ` ${projection.schema}.`));
      }
    }
    await writeVersion(db, projection);
  });

/** The triggers of a rebuilt table. They call functions of the shadow schema, which is dropped. */
const triggersOn = async (db: Queryable, table: string): Promise<{ name: string; definition: string }[]> => {
  const { rows } = await db.query<{ name: string; definition: string }>(
    `select quote_ident(tgname) as name, pg_get_triggerdef(oid) as definition
       from pg_trigger where tgrelid = $1::regclass and not tgisinternal`,
    [table],
  );
  return rows;
};

/** The views of a rebuilt table alone, as the migrations made them in the shadow schema. */
const viewsOn = async (db: Queryable, table: string): Promise<{ name: string; definition: string }[]> => {
  const { rows } = await db.query<{ name: string; definition: string }>(
    `select quote_ident(view.relname) as name, pg_get_viewdef(view.oid) as definition
       from pg_class as view where view.relkind = 'v' and exists (
         select from pg_rewrite join pg_depend on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid
          where ev_class = view.oid and refclassid = 'pg_class'::regclass and refobjid = $1::regclass)`,
    [table],
  );
  return rows;
};

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';

/** Whether the lock or the last events timed out. */
const isRetryable = (error: unknown): boolean => {
  const { code, name } = error as { code?: string; name?: string };
  return code === LOCK_NOT_AVAILABLE || code === DEADLOCK_DETECTED || name === 'TimeoutError';
};

/** Another version of the service may have migrated the live table since the rebuild started. */
const requireSameMigrations = async ({ schema }: Projection, shadow: ShadowTables): Promise<void> => {
  const migrationsOf = async (schemaName: string) =>
    (await shadow.session.query<{ hash: string }>(`select hash from ${schemaName}.migrations order by number`)).rows;
  const [live, rebuilt] = [await migrationsOf(schema), await migrationsOf(shadow.schema)];
  if (JSON.stringify(live) === JSON.stringify(rebuilt)) return;
  throw new ProjectionError(
    `the tables of ${schema} belong to another version: rebuild with the version that is running`,
  );
};

/** Statements that grant the privileges on the live table to the rebuilt one. */
const grantsOn = async (db: Queryable, live: string, rebuilt: string): Promise<string[]> => {
  const { rows } = await db.query<{ statement: string }>(
    `select format('grant %s on %s to %s%s', privilege_type, $2::text, coalesce(quote_ident(role.rolname), 'public'),
                   case when is_grantable then ' with grant option' else '' end) as statement
       from pg_class, aclexplode(relacl) left join pg_roles as role on role.oid = grantee
      where pg_class.oid = $1::regclass and grantee is distinct from relowner`,
    [live, rebuilt],
  );
  return rows.map(({ statement }) => statement);
};

const RETRY_EVERY_MS = 5_000;

interface RebuildOutdatedOptions extends Omit<ShadowTableOptions, 'signal' | 'onProgress'> {
  readonly pool: Pool;
  /** Waits between attempts. Default: 5 s. */
  readonly wait?: Wait;
  readonly log: Logger;
}

/** Rebuilds the tables of a projection once if an earlier version of it built them, while they are in use. Any number
 *  of instances may run it: one rebuilds, the others find the tables up to date. Retries until it succeeds or stops. */
export const rebuildOutdated = ({
  pool,
  wait,
  log,
  ...options
}: RebuildOutdatedOptions): { stop: () => Promise<void> } => {
  const stopping = new AbortController();
  const { projection } = options;
  const name = nameOf(projection);
  const rebuildIfOutdated = async () => {
    const version = await ensureVersion(pool, projection);
    if (version !== null && version >= projection.version) return;
    log.info({ table: name, version: projection.version }, 'read model is of an earlier version, rebuilding');
    await rebuild({
      ...options,
      signal: stopping.signal,
      onUnreadable: (error) => log.error({ err: error, table: name }, 'event cannot be read: its row is not current'),
    });
    log.info({ table: name, version: projection.version }, 'read model rebuilt');
  };
  let warned: string | null = null;
  const running = retry(rebuildIfOutdated, {
    signal: stopping.signal,
    firstMs: RETRY_EVERY_MS,
    maxMs: RETRY_EVERY_MS,
    ...(wait && { wait }),
    onError: (error) => {
      if (error instanceof ProjectionBusyError || stopping.signal.aborted) return;
      const { message } = error as Error;
      if (message === warned) return;
      warned = message;
      log.warn({ err: error, table: name }, 'read model rebuild failed, retrying');
    },
  }).catch(() => {});
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

/** Returns the version that built the tables, or null for a version that recorded none. Empty tables need no rebuild,
 *  because this version will fill them: records it as theirs. */
export const ensureVersion = async (pool: Pool, projection: Projection): Promise<number | null> => {
  const version = await readVersion(pool, projection);
  if (version !== null) return version;
  return transaction(pool, async (db) => {
    const name = nameOf(projection);
    await db.query(`lock table ${name} in share row exclusive mode`);
    const { rows } = await db.query<{ empty: boolean }>(`select not exists (select from ${name}) as empty`);
    if (!rows[0]!.empty) return null;
    await writeVersion(db, projection);
    return projection.version;
  });
};
