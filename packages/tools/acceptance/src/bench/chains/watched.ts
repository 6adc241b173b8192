import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startPostgres } from '@cpg/embedded-postgres';
import { watchedAddresses } from '@cpg/payments/watched-addresses.js';
import { freePort } from '@cpg/ports';
import { createPool, migrate, type Pool } from '@cpg/platform/postgres';
import { createLogger } from '@cpg/platform';
import pg from 'pg';
import { atMost, mib, ms, type Row } from '../report.ts';
import { inTurns } from '../timings.ts';
import { type BenchedChain, openBenched } from './benched-chain.ts';

const ROUNDS = 9;
const WARM_UP = 3;
const MAX_RATIO = 1.5;
const MAX_BYTES = 50 * 2 ** 20;

const MIGRATIONS = join(dirname(createRequire(import.meta.url).resolve('@cpg/payments/package.json')), 'migrations');

export type Watched = Awaited<ReturnType<ReturnType<typeof watchedAddresses>['refresh']>>;

export interface WatchedTables {
  /** Addresses in a database of their own, as payments looks them up. */
  readonly fill: (addresses: number) => Promise<Watched>;
  readonly stop: () => Promise<void>;
}

/** A PostgreSQL server with the tables of payments. */
export const openWatchedTables = async (): Promise<WatchedTables> => {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'));
  const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: await freePort(), password: 'secret' });
  const log = createLogger({ name: 'bench', level: 'silent' });
  const pools: Pool[] = [];
  return {
    fill: async (addresses) => {
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

/** The time of a block, and the memory that reading adds, with many addresses beside few. */
export const measureWatched = async (
  chain: BenchedChain,
  few: Watched,
  many: Watched,
  counts: { readonly few: number; readonly many: number },
): Promise<Row[]> => {
  const { source, refs } = await openBenched(chain);
  const read = (watched: Watched) => async () => {
    for (const ref of refs) await source.block(ref, watched);
  };
  try {
    await inTurns(ROUNDS, [read(few)], WARM_UP);
    const before = process.memoryUsage.rss();
    await inTurns(ROUNDS, [read(many)]);
    const added = process.memoryUsage.rss() - before;
    const [fewMs, manyMs] = (await inTurns(ROUNDS, [read(few), read(many)])) as [number, number];
    return [
      {
        measure: `${chain.name}: time of a block with ${counts.many} addresses`,
        measured: ms(manyMs / refs.length),
        baseline: { text: `${ms(fewMs / refs.length)} with ${counts.few}`, ratio: manyMs / fewMs },
        goal: atMost(manyMs / fewMs, MAX_RATIO, ' x the time'),
      },
      {
        measure: `${chain.name}: memory that ${counts.many} addresses add`,
        measured: mib(added),
        goal: { text: '< 50 MiB', met: added < MAX_BYTES },
      },
    ];
  } finally {
    await source.close();
  }
};
