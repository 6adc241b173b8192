import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startPostgres } from '@cpg/embedded-postgres';
import { watchedAddresses } from '@cpg/payments/watched-addresses.js';
import { createLogger } from '@cpg/platform';
import { createPool, migrate, type Pool } from '@cpg/platform/postgres';
import { freePort } from '@cpg/ports';
import pg from 'pg';

const MIGRATIONS = join(dirname(createRequire(import.meta.url).resolve('@cpg/payments/package.json')), 'migrations');

export type Watched = Awaited<ReturnType<ReturnType<typeof watchedAddresses>['refresh']>>;

/** A PostgreSQL server with the tables of payments. */
export const openWatchedTables = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'));
  const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: await freePort(), password: 'secret' });
  const log = createLogger({ name: 'bench', level: 'silent' });
  const pools: Pool[] = [];
  return {
    /** Addresses in a database of their own, as payments looks them up. */
    fill: async (addresses: number): Promise<Watched> => {
      const name = `watched_${addresses}`;
      await server.createDatabase(name);
      const pool = createPool({ url: server.url(name), name: 'bench', log });
      pools.push(pool);
      await migrate(pool, { schema: 'payments', folder: MIGRATIONS });
      await fillPayables(server.url(name), addresses);
      const { refresh } = watchedAddresses({
        db: pool,
        beyondRows: async () => ({ has: () => false, from: null }),
        onUnshown: async () => {},
        endsBy: () => new Date(),
      });
      return refresh();
    },
    stop: async () => {
      await Promise.all(pools.map((pool) => pool.end()));
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
};

/** Half of the addresses are of Bitcoin and half of EVM networks; half of their orders have ended. A look-up uses no
 *  other index, so the others are left out. */
const fillPayables = async (url: string, addresses: number): Promise<void> => {
  const statements = `
    alter table payments.payables set unlogged;
    alter table payments.payables drop constraint payables_pkey;
    drop index payments.payables_by_account, payments.payables_by_address;
    insert into payments.payables (id, order_id, merchant_id, rail, address, ended_at, deleted, hosted)
    select 'ord_' || n, 'ord_' || n, 'mrc', 'crypto_deposit',
      case n % 2 when 0 then 'bcrt1q' || md5(n::text) || left(md5((-n)::text), 6) else '0x' || md5(n::text) || left(md5((-n)::text), 8) end,
      case n / 2 % 2 when 0 then now() end, false, false
    from generate_series(1, ${addresses}) as n;
    set maintenance_work_mem = '1GB';
    create index payables_by_address on payments.payables (address) where address is not null;
    analyze payments.payables`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements.split(';\n')) await client.query(statement);
  } finally {
    await client.end();
  }
};
