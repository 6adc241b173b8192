import { createPool, type Pool } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';

// Every statement finds rows by an index. Without statistics of a new partition the planner would sometimes scan all of
// it.
const PLANNER = { enable_seqscan: 'off' };

export const openPool = (url: string, { max, log }: { max: number; log: Logger }): Pool =>
  createPool({ url, name: 'webhook-dispatcher', max, settings: PLANNER, log });
