import { maintainOnce, type MaintenanceOptions } from '../maintenance/maintenance.ts';
import { createPartitions, DEFAULT_RETENTION } from '../queue/partitions.ts';
import type { Dispatchers } from './jest-dispatchers.ts';
import { log } from './jest-log.ts';

const DAY_MS = 86_400_000;

export const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

/** Runs the maintenance tasks once, at another time. */
export const maintainAt = (
  system: Dispatchers,
  webhooks: MaintenanceOptions['webhooks'],
  now: () => Date,
  { retention = DEFAULT_RETENTION, ranMs = 60_000, isSetBack = false } = {},
) =>
  maintainOnce(
    {
      pool: system.pool,
      partitions: createPartitions(system.pool, { now, endsBy: now, retention }),
      webhooks,
      retention,
      schedule: [5, 300],
      disableAfterMs: 5 * DAY_MS,
      now,
      endsBy: now,
      log,
    },
    { ranMs, isSetBack },
  );
