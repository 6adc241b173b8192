import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';
import type { Partitions, Retention } from './storage/partitions.ts';
import type { Directory } from './webhooks/directory.ts';

export interface MaintenanceOptions {
  readonly pool: Pool;
  readonly partitions: Partitions;
  readonly webhooks: Pick<Directory, 'disable'>;
  readonly retention: Retention;
  /** A webhook of which every attempt failed for so long is disabled. */
  readonly disableAfterMs: number;
  readonly now: () => Date;
  readonly log: Logger;
}

export const DISABLE_AFTER_MS = 5 * 86_400_000;

const EVERY_MS = 60_000;

/** The chores that one instance does for all, until `signal` aborts. */
export const maintain = async (options: MaintenanceOptions, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await maintainOnce(options);
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
  }
};

/** Does all of them; one that cannot be done now keeps no other from being done. */
export const maintainOnce = async (options: MaintenanceOptions): Promise<void> => {
  const { pool, partitions, retention, now, log } = options;
  const forget = (table: string, column: string) =>
    pool.query(`delete from webhooks.${table} where ${column} < $1::timestamptz - $2 * interval '1 day'`, [
      now(),
      retention.metadataDays,
    ]);
  const chores = {
    'partitions ahead': () => partitions.ensureAhead(),
    'partitions past their retention': async () => {
      const dropped = await partitions.dropOld();
      if (dropped.length > 0) log.info({ partitions: dropped }, 'dropped what is past its retention');
    },
    'orders forgotten long ago': () => forget('forgotten_orders', 'forgotten_at'),
    'replays finished long ago': () => forget('replays', 'finished_at'),
    'failing webhooks': () => disableFailing(options),
  };
  for (const [chore, work] of Object.entries(chores))
    await work().catch((error: unknown) => log.warn({ err: error, chore }, 'a chore could not be done, trying again'));
};

/** Disables webhooks that only failed for too long. One that its owner changed since is given the time anew. */
const disableFailing = async ({ pool, webhooks, disableAfterMs, now, log }: MaintenanceOptions): Promise<void> => {
  const { rows } = await pool.query<{ webhook_id: string; since: Date }>(
    `select f.webhook_id, f.since from webhooks.failing f join gateway.webhooks w on w.id = f.webhook_id
     where w.is_enabled and greatest(f.since, w.updated_at) <= $1`,
    [new Date(now().getTime() - disableAfterMs)],
  );
  for (const { webhook_id: webhookId, since } of rows) {
    await webhooks.disable([webhookId], `every delivery attempt has failed since ${since.toISOString()}`);
    await pool.query('delete from webhooks.failing where webhook_id = $1', [webhookId]);
    log.info({ webhookId, since }, 'webhook disabled: it failed for too long');
  }
  // Of webhooks that are gone or off nothing is remembered: they start anew.
  await pool.query(
    `delete from webhooks.failing f where not exists (
       select from gateway.webhooks w where w.id = f.webhook_id and w.is_enabled and w.deleted_at is null)`,
  );
};
