import { createPool, type Pool } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';

// All queries of this service must use an index. A new partition has no statistics yet, so the planner would sometimes
// choose a sequential scan of the whole partition. Planning a statement anew for each call, as PostgreSQL would decide,
// costs more than running it.
const SETTINGS = { enable_seqscan: 'off', plan_cache_mode: 'force_generic_plan' };

/** Opens the connection pool of the dispatcher. Its sessions avoid sequential scans, and plan a named statement
 *  once. */
export const openPool = (url: string, { max, log }: { max: number; log: Logger }): Pool =>
  createPool({ url, name: 'webhook-dispatcher', max, settings: SETTINGS, log });
