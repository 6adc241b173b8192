import { type LogPosition, readLog } from '@cpg/event-store';
import {
  withAdvisoryLock,
  migrateInTransaction,
  type Queryable,
  AdvisoryLockTakenError,
  transactionOnConnection,
} from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { type Projection, tableOf } from './projection.ts';

export interface ShadowTableOptions {
  readonly client: EventStoreDBClient;
  readonly databaseUrl: string;
  readonly projection: Projection;
  /** Folder of the migrations that created the live table. */
  readonly migrations: string;
  readonly signal: AbortSignal;
  /** Called every 5000 events with the number of events read and the time of the last one. */
  readonly onProgress?: (events: number, upTo: Date) => void;
}

/** A copy of a projection's table, built from the whole log in a schema of its own. It has the same name as the live
 *  table. */
export interface ShadowTable {
  readonly schema: string;
  readonly table: string;
  /** The one connection that all statements run on. */
  readonly session: Queryable;
  /** Position in the log up to which the table was built. */
  readonly built: LogPosition | null;
  /** Applies the log from `from` up to its current end. Resolves to the position it reached. */
  readonly catchUp: (from: LogPosition | null, signal: AbortSignal) => Promise<LogPosition | null>;
}

/** An expected failure. The message tells the operator the reason and what to do. */
export class ProjectionError extends Error {
  override readonly name = 'ProjectionError';
}

const PROGRESS_EVERY = 5_000;

/** Builds a shadow table, passes it to `work`, and drops its schema. An advisory lock admits one shadow table per
 *  projection and database. The next run cleans up after a crashed one. Throws ProjectionError. */
export const withShadowTable = async <T>(
  options: ShadowTableOptions,
  work: (shadow: ShadowTable, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { databaseUrl, projection } = options;
  // Lock and schema keep the names that earlier versions use, so that two versions exclude each other during an
  // upgrade.
  const lock = `beside ${tableOf(projection)}`;
  const schema = `${projection.schema}_beside`;
  try {
    return await withAdvisoryLock({ url: databaseUrl, applicationName: lock, lock }, async (session, lost) => {
      const signal = AbortSignal.any([options.signal, lost]);
      await createEmpty(session, schema, options);
      try {
        return await work(await build(session, schema, { ...options, signal }), signal);
      } finally {
        await session.query(`drop schema if exists ${schema} cascade`).catch(() => {});
      }
    });
  } catch (error) {
    if (!(error instanceof AdvisoryLockTakenError)) throw error;
    throw new ProjectionError(
      `${tableOf(projection)} is being rebuilt or verified by another process: wait until it has finished`,
    );
  }
};

const createEmpty = async (session: Queryable, schema: string, { projection, migrations }: ShadowTableOptions) => {
  const live = tableOf(projection);
  const { rows } = await session.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [live]);
  if (!rows[0]?.exists) throw new ProjectionError(`${live} does not exist yet: start its service first`);
  // A lost commit does no harm: the table is not in use yet and can be built again.
  await session.query('set synchronous_commit = off');
  await transactionOnConnection(session, async (db) => {
    await db.query(`drop schema if exists ${schema} cascade`);
    await migrateInTransaction(db, { schema, folder: migrations });
  });
};

const build = async (
  session: Queryable,
  schema: string,
  { client, projection, signal, onProgress = () => {} }: ShadowTableOptions,
): Promise<ShadowTable> => {
  const table = tableOf({ schema, table: projection.table });
  let total = 0;
  const catchUp: ShadowTable['catchUp'] = (from, until) =>
    readLog(client, {
      from,
      prefixes: projection.prefixes,
      signal: until,
      handle: async (events) => {
        await projection.apply(session, events, table);
        const before = total;
        total += events.length;
        if (Math.floor(total / PROGRESS_EVERY) > Math.floor(before / PROGRESS_EVERY))
          onProgress(total, events.at(-1)!.event!.created);
      },
    });
  const built = await catchUp(null, signal);
  await session.query(`analyze ${table}`);
  return { schema, table, session, built, catchUp };
};
