import { createPool, type Pool } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';

// Every statement here looks up rows by an index. Of a partition that is new the planner knows nothing, and would now and then rather
// read all of it.
const PLANNER = { enable_seqscan: 'off' };

export const openPool = (url: string, { max, log }: { max: number; log: Logger }): Pool =>
  createPool({ url, name: 'webhook-dispatcher', max, settings: PLANNER, log });
