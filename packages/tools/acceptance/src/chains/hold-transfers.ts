import pg from 'pg';
import type { StackFiles } from '../harness/stack-files.ts';
import { until } from '../harness/until.ts';

/** Writes of transfers that wait: payments has read a block, and has not committed it. */
export interface HeldTransfers {
  /** Waits until payments waits. */
  readonly areWaitedFor: () => Promise<void>;
  readonly release: () => Promise<void>;
}

export const holdTransfers = async ({ databaseUrl }: StackFiles): Promise<HeldTransfers> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {}); // tests kill PostgreSQL
  await client.connect();
  await client.query('begin; lock table payments.chain_transfers in share mode');
  const waiting = `select from pg_locks where relation = 'payments.chain_transfers'::regclass and not granted`;
  return {
    areWaitedFor: () =>
      until('payments to write a transfer', async () => (await client.query(waiting)).rowCount! > 0).then(() => {}),
    release: () => client.end(),
  };
};
