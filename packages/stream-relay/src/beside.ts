import { type LogPosition, readLog } from '@cpg/event-store';
import { holdRole, migrateWithin, type Queryable, RoleTakenError, transactionOn } from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { type Projection, tableOf } from './projection.ts';

export interface BesideOptions {
  readonly client: EventStoreDBClient;
  readonly databaseUrl: string;
  readonly projection: Projection;
  /** The folder of the migrations that made the live table. */
  readonly migrations: string;
  readonly signal: AbortSignal;
  /** Told now and then how many events were read, and the instant of the last one. */
  readonly onProgress?: (events: number, upTo: Date) => void;
}

/** A projection made from the whole log in a table beside the live one, whose names it shares in a schema of its own. */
export interface Beside {
  readonly schema: string;
  readonly table: string;
  /** The connection that all of this happens on. */
  readonly session: Queryable;
  /** How far the log was applied when the table was built. */
  readonly built: LogPosition | null;
  /** Applies what the log has from a place on, up to its end as of now. Resolves with the place it came to. */
  readonly catchUp: (from: LogPosition | null, signal: AbortSignal) => Promise<LogPosition | null>;
}

/** It cannot be done, and the message says why and what to do. */
export class ProjectionFault extends Error {
  override readonly name = 'ProjectionFault';
}

const PROGRESS_EVERY = 5_000;

/** Builds a table beside the live one, hands it to `work`, and removes what is left of it. One at a time in the whole database: what a
 *  process leaves that dies, the next one removes. */
export const withTableBeside = async <T>(
  options: BesideOptions,
  work: (beside: Beside, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { databaseUrl, projection } = options;
  const name = `beside ${tableOf(projection)}`;
  try {
    return await holdRole({ url: databaseUrl, name, role: name }, async (session, lost) => {
      const signal = AbortSignal.any([options.signal, lost]);
      const schema = `${projection.schema}_beside`;
      await makeEmpty(session, schema, options);
      try {
        return await work(await build(session, schema, { ...options, signal }), signal);
      } finally {
        await session.query(`drop schema if exists ${schema} cascade`).catch(() => {});
      }
    });
  } catch (error) {
    if (!(error instanceof RoleTakenError)) throw error;
    throw new ProjectionFault(`${tableOf(projection)} is being rebuilt or verified by another process: wait for it`);
  }
};

const makeEmpty = async (session: Queryable, schema: string, { projection, migrations }: BesideOptions) => {
  const live = tableOf(projection);
  const { rows } = await session.query<{ there: boolean }>('select to_regclass($1) is not null as there', [live]);
  if (!rows[0]?.there) throw new ProjectionFault(`there is no ${live} yet: start its service first`);
  // Nobody reads it yet, and it can be made again: its commits need not wait for the disk.
  await session.query('set synchronous_commit = off');
  await transactionOn(session, async (db) => {
    await db.query(`drop schema if exists ${schema} cascade`);
    await migrateWithin(db, { schema, folder: migrations });
  });
};

const build = async (
  session: Queryable,
  schema: string,
  { client, projection, signal, onProgress = () => {} }: BesideOptions,
): Promise<Beside> => {
  const table = tableOf({ schema, table: projection.table });
  let total = 0;
  const catchUp: Beside['catchUp'] = (from, until) =>
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
