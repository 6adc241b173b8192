import { setTimeout as sleep } from 'node:timers/promises';
import { type Pool, transaction, withoutTimeout } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';

const EVERY_MS = 1_000;
const BATCH = 5_000;

/** Keeps the counts of deliveries until `signal` aborts: counts the days in `uncounted_days` again, and moves changes
 *  to the spans. Only one instance, the leader, does it. */
export const keepDeliveryCounts = async (pool: Pool, log: Logger, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const moved = await countDeliveries(pool, signal).catch((error: unknown) => {
      log.warn({ err: error }, 'counting deliveries failed, will retry');
      return 0;
    });
    if (moved < BATCH) await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
  }
};

/** Counts one of these days, and moves one batch of changes. Returns how many changes it moved. */
export const countDeliveries = async (pool: Pool, signal?: AbortSignal): Promise<number> => {
  if (!signal?.aborted) await countOneDay(pool);
  const { rows } = await pool.query<{ moved: number }>({
    name: 'merge delivery counts',
    text: 'select webhooks.merge_delivery_counts($1) as moved',
    values: [BATCH],
  });
  return rows[0]!.moved;
};

/** Counts the deliveries of the newest of these days. */
const countOneDay = async (pool: Pool): Promise<void> => {
  const { rows } = await pool.query<{ day: string }>(
    'select day::text from webhooks.uncounted_days order by day desc limit 1',
  );
  const [uncounted] = rows;
  if (!uncounted) return;
  await transaction(pool, async (db) => {
    await db.query('set local statement_timeout = 0');
    await db.query(withoutTimeout('select webhooks.correct_delivery_counts($1)', [uncounted.day]));
    await db.query('delete from webhooks.uncounted_days where day = $1', [uncounted.day]);
  });
};
