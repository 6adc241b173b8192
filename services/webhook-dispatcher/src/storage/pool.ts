import { createPool, type Pool } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';

// All queries of this service must use an index. A new partition has no statistics yet, so the planner would sometimes
// choose a sequential scan of the whole partition.
const INDEX_SCANS_ONLY = { enable_seqscan: 'off' };

/** Opens the connection pool of the dispatcher. Its sessions avoid sequential scans. */
export const openPool = (url: string, { max, log }: { max: number; log: Logger }): Pool =>
  createPool({ url, name: 'webhook-dispatcher', max, settings: INDEX_SCANS_ONLY, log });
