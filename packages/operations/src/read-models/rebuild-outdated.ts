import { type Pool, transaction } from '@cpg/platform/postgres';
import { type Logger, retry } from '@cpg/platform';
import { nameOf, type Projection, readVersion, writeVersion } from '@cpg/event-sourcing';
import { rebuild } from './rebuild.ts';
import { ProjectionBusyError, type ShadowTableOptions } from './shadow-tables.ts';

const RETRY_EVERY_MS = 5_000;

export interface RebuildOutdatedOptions extends Omit<ShadowTableOptions, 'signal' | 'onProgress'> {
  readonly pool: Pool;
  readonly log: Logger;
}

/** Rebuilds the tables of a projection once if an earlier version of it built them, while they are in use. Any number
 *  of instances may run it: one rebuilds, the others find the tables up to date. Retries until it succeeds or stops. */
export const rebuildOutdated = ({ pool, log, ...options }: RebuildOutdatedOptions): { stop: () => Promise<void> } => {
  const stopping = new AbortController();
  const { projection } = options;
  const name = nameOf(projection);
  const rebuildIfOutdated = async () => {
    if (await isCurrent(pool, projection)) return;
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

/** Whether this version, or a later one, built the tables. Empty tables need no rebuild: this version will fill
 *  them. */
export const isCurrent = async (pool: Pool, projection: Projection): Promise<boolean> => {
  const version = await readVersion(pool, projection);
  if (version !== null) return version >= projection.version;
  return transaction(pool, async (db) => {
    const name = nameOf(projection);
    await db.query(`lock table ${name} in share row exclusive mode`);
    const { rows } = await db.query<{ empty: boolean }>(`select not exists (select from ${name}) as empty`);
    if (rows[0]!.empty) await writeVersion(db, projection);
    return rows[0]!.empty;
  });
};
