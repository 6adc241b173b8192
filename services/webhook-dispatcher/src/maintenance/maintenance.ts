import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';
import { longestWaits, type Schedule } from '../delivery/schedule.ts';
import { pullForward } from '../queue/queue-table.ts';
import type { Partitions, Retention } from '../queue/partitions.ts';
import type { Directory } from '../webhooks/directory.ts';

export interface MaintenanceOptions {
  readonly pool: Pool;
  readonly partitions: Partitions;
  readonly webhooks: Pick<Directory, 'disable'>;
  readonly retention: Retention;
  readonly schedule: Schedule;
  /** A webhook whose attempts have all failed while dispatchers ran for this long is disabled, unless they are few or
   *  long ago. */
  readonly disableAfterMs: number;
  readonly now: () => Date;
  /** The time by which retention and webhooks end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  readonly log: Logger;
}

export const DISABLE_AFTER_MS = 5 * 86_400_000;
const FAILURES_TO_DISABLE = 10;
const LAST_FAILURE_WITHIN_MS = 86_400_000;

const EVERY_MS = 60_000;
/** A round that took longer met an outage of the database, or a process that stood still. */
const LONGEST_ROUND_MS = 2 * EVERY_MS;
/** A clock that is only adjusted moves by less in one round. */
const SET_BACK_MS = 1_000;

/** Repeats the maintenance tasks until `signal` aborts. Only one instance, the leader, runs them. */
export const maintain = async (options: MaintenanceOptions, signal: AbortSignal): Promise<void> => {
  let countedMs = performance.now();
  const mayBeSetBack = stepsBack(options.now, () => performance.now());
  while (!signal.aborted) {
    const ms = performance.now();
    await maintainOnce(options, { ranMs: ms - countedMs, isSetBack: mayBeSetBack() });
    countedMs = ms;
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
  }
};

/** Returns a function that says whether the wall clock was set back since its last call, compared to the monotonic one.
 *  The first call says yes, because nobody knows. */
export const stepsBack = (now: () => Date, nowMs: () => number) => {
  let offsetMs = Infinity;
  return (): boolean => {
    const before = offsetMs;
    offsetMs = now().getTime() - nowMs();
    return before - offsetMs > SET_BACK_MS;
  };
};

export interface Round {
  /** Since the last one. */
  readonly ranMs: number;
  /** The clock was set back since the last one, or may have been. */
  readonly isSetBack: boolean;
}

/** Runs all tasks. A task that fails does not prevent the others. */
export const maintainOnce = async (options: MaintenanceOptions, { ranMs, isSetBack }: Round): Promise<void> => {
  const { pool, partitions, retention, schedule, now, endsBy, log } = options;
  const deleteOld = (table: string, column: string) =>
    pool.query(`delete from webhooks.${table} where ${column} < $1::timestamptz - $2 * interval '1 day'`, [
      endsBy(),
      retention.metadataDays,
    ]);
  const tasks = {
    'make deliveries due': async () => {
      const pulled = isSetBack ? await pullForward(pool, { waits: longestWaits(schedule), now: now() }) : 0;
      if (pulled > 0) log.warn({ deliveries: pulled }, 'deliveries are due now: the clock was set back');
    },
    'create partitions': () => partitions.ensureAhead(),
    'drop partitions': async () => {
      const dropped = await partitions.dropOld();
      if (dropped.length > 0) log.debug({ partitions: dropped }, 'dropped partitions past their retention');
    },
    'delete old tombstones of orders': () => deleteOld('forgotten_orders', 'forgotten_at'),
    'delete old replays': () => deleteOld('replays', 'finished_at'),
    'disable failing webhooks': async () => {
      await countFailingTime(options, Math.round(Math.min(ranMs, LONGEST_ROUND_MS)));
      await disableFailing(options);
    },
  };
  for (const [task, run] of Object.entries(tasks))
    await run().catch((error: unknown) => log.warn({ err: error, task }, 'maintenance task failed, will retry'));
};

/** Adds the time in which this process led, so that neither a stop nor a step of the clock counts as time in which a
 *  webhook failed. The time restarts when the merchant changes the webhook. */
const countFailingTime = ({ pool }: MaintenanceOptions, ranMs: number) =>
  pool.query(
    `update webhooks.failing f set changed_at = seen.updated_at,
       failed_ms = case when f.changed_at is distinct from seen.updated_at then 0 else f.failed_ms + $1 end
     from (
       select known.webhook_id, w.updated_at
       from webhooks.failing known join gateway.webhook_endpoints w on w.id = known.webhook_id
       order by known.webhook_id for update of known
     ) as seen where f.webhook_id = seen.webhook_id`,
    [ranMs],
  );

/** Disables webhooks whose attempts have all failed for too long: at least ten of them, the last within a day. So a
 *  quiet webhook is not disabled for one failure. */
const disableFailing = async ({ pool, webhooks, disableAfterMs, endsBy, log }: MaintenanceOptions): Promise<void> => {
  const at = endsBy();
  const { rows } = await pool.query<{ webhook_id: string; since: Date; attempts: string }>(
    `select f.webhook_id, f.since, f.attempts
     from webhooks.failing f join gateway.webhook_endpoints w on w.id = f.webhook_id
     where w.is_enabled and f.failed_ms >= $1 and f.attempts >= $2 and f.last_at between $3 and $4`,
    [disableAfterMs, FAILURES_TO_DISABLE, new Date(at.getTime() - LAST_FAILURE_WITHIN_MS), at],
  );
  for (const { webhook_id: webhookId, since, attempts } of rows) {
    await webhooks.disable([webhookId], `all ${attempts} delivery attempts have failed since ${since.toISOString()}`);
    await pool.query('delete from webhooks.failing where webhook_id = $1', [webhookId]);
    log.info({ webhookId, since, attempts }, 'webhook disabled: all its attempts have failed for too long');
  }
  // A webhook that is enabled again starts without failures.
  await pool.query(
    `delete from webhooks.failing where webhook_id in (
       select webhook_id from webhooks.failing f where f.since = 'infinity' or not exists (
         select from gateway.webhook_endpoints w where w.id = f.webhook_id and w.is_enabled)
       order by webhook_id for update)`,
  );
};
