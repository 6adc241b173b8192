import {
  FIRST_PROJECTION,
  isTombstone,
  type LogPosition,
  nameOf,
  type Projection,
  readLog,
  tablesOf,
  UnreadableEventError,
} from '@cpg/event-sourcing';
import {
  AdvisoryLockTakenError,
  migrateInTransaction,
  type Queryable,
  transactionOnConnection,
  withAdvisoryLock,
} from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';

export interface ShadowTableOptions {
  readonly client: EventStoreDBClient;
  readonly databaseUrl: string;
  readonly projection: Projection;
  /** Folder of the migrations that created the live tables. */
  readonly migrations: string;
  readonly signal: AbortSignal;
  /** Called every 5000 events with the number of events read and the time of the last one. */
  readonly onProgress?: (events: number, upTo: Date) => void;
  /** Called for each event that cannot be read. Its row stays as of the event before, as in the live tables. */
  readonly onUnreadable?: (error: UnreadableEventError) => void;
}

/** Copies of a projection's tables, built from the whole log in a schema of their own. They have the same names as the
 *  live tables. */
export interface ShadowTables {
  readonly schema: string;
  /** The one connection that all statements run on. */
  readonly session: Queryable;
  /** Position in the log up to which the tables were built. */
  readonly built: LogPosition | null;
  /** Applies the log from `from` up to its current end. Resolves to the position it reached. */
  readonly catchUp: (from: LogPosition | null, signal: AbortSignal) => Promise<LogPosition | null>;
}

/** An expected failure. The message tells the operator the reason and what to do. */
export class ProjectionError extends Error {
  override readonly name = 'ProjectionError';
}

const INSUFFICIENT_PRIVILEGE = '42501';
const PROGRESS_EVERY = 5_000;

/** A rebuild or a verification by another process is in progress. */
export class ProjectionBusyError extends ProjectionError {}

/** Builds shadow tables, passes them to `work`, and drops their schema. An advisory lock admits one set of shadow
 *  tables per projection and database. The next run cleans up after a crashed one. Throws ProjectionError. */
export const withShadowTables = async <T>(
  options: ShadowTableOptions,
  work: (shadow: ShadowTables, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { databaseUrl, projection } = options;
  const lock = `shadow ${nameOf(projection)}`;
  const { name = FIRST_PROJECTION } = projection;
  const schema = `${projection.schema}${name === FIRST_PROJECTION ? '' : `_${name}`}_shadow`;
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
    if ((error as { code?: unknown }).code === INSUFFICIENT_PRIVILEGE)
      throw new ProjectionError(
        `the role in DATABASE_URL may not create tables: rebuild and verify ${nameOf(projection)} with the DATABASE_URL of the owner`,
        { cause: error },
      );
    if (!(error instanceof AdvisoryLockTakenError)) throw error;
    throw new ProjectionBusyError(
      `${nameOf(projection)} is being rebuilt or verified by another process: wait until it has finished`,
    );
  }
};

const createEmpty = async (session: Queryable, schema: string, { projection, migrations }: ShadowTableOptions) => {
  for (const live of tablesOf(projection)) {
    const { rows } = await session.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [live]);
    if (!rows[0]?.exists) throw new ProjectionError(`${live} does not exist yet: start its service first`);
  }
  // A lost commit does no harm: the tables are not in use yet and can be built again.
  await session.query('set synchronous_commit = off');
  await transactionOnConnection(session, async (db) => {
    await db.query(`drop schema if exists ${schema} cascade`);
    await migrateInTransaction(db, { schema, folder: migrations });
  });
};

const build = async (
  session: Queryable,
  schema: string,
  { client, projection, signal, onProgress = () => {}, onUnreadable = () => {} }: ShadowTableOptions,
): Promise<ShadowTables> => {
  const unreadable = new Set<string>();
  const apply = async (events: AllStreamResolvedEvent[]): Promise<void> => {
    const readable = events.filter((entry) => isTombstone(entry) || !unreadable.has(entry.event!.streamId));
    try {
      await projection.apply(session, readable, schema);
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
      if (readable.length > 1) {
        for (const entry of readable) await apply([entry]);
        return;
      }
      unreadable.add(error.stream);
      onUnreadable(error);
    }
  };
  let total = 0;
  const catchUp: ShadowTables['catchUp'] = (from, until) =>
    readLog(client, {
      from,
      prefixes: projection.prefixes,
      signal: until,
      handle: async (events) => {
        await apply(events);
        const before = total;
        total += events.length;
        if (Math.floor(total / PROGRESS_EVERY) > Math.floor(before / PROGRESS_EVERY))
          onProgress(total, events.at(-1)!.event!.created);
      },
    });
  const built = await catchUp(null, signal);
  for (const table of tablesOf({ ...projection, schema })) await session.query(`analyze ${table}`);
  return { schema, session, built, catchUp };
};
