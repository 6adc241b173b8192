import { createPool, type Pool } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';

// Every statement here looks up rows by an index. Of a partition that is new the planner knows nothing, and would now and then rather
// read all of it.
const PLANNER = '-c enable_seqscan=off';

export const openPool = (databaseUrl: string, { max, log }: { max: number; log: Logger }): Pool => {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', [url.searchParams.get('options'), PLANNER].filter(Boolean).join(' '));
  return createPool({ url: url.toString(), name: 'webhook-dispatcher', max, log });
};
