import { createLogger } from '@cpg/platform';
import { createPool, databaseClocks, type Pool } from '@cpg/platform/postgres';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import fc from 'fast-check';
import { MIGRATIONS } from '../../migrations.ts';
import { anyLie, MONEY, settle, steps } from '../../testing/jest-chain-histories.ts';
import { chainProcesses, KIND, transferOf } from '../../testing/jest-chain-process.ts';
import { simulatedChain } from '../../testing/jest-simulated-chain.ts';
import { chainKindOf } from '../chain-kind.ts';
import { readStatusOf } from '../chain-status.ts';
import { timesOfBlocks } from '../nodes/agreement.ts';
import { executeChains } from '../../testing/jest-commands.ts';
import type { ChainStore } from './chain-store.ts';
import { chainTables } from './chain-tables.ts';

let database: Awaited<ReturnType<typeof migratedDatabase>>;
let pool: Pool;

const log = createLogger({ name: 'chain-tables', level: 'silent' });

beforeAll(async () => {
  database = await migratedDatabase(MIGRATIONS);
  pool = database.pool;
});
afterAll(() => database.stop());

const contentOf = async (store: ChainStore) => ({
  stored: await store.load(),
  open: idsOf(await store.open()),
  ofTip: idsOf(
    await store.ofBlock(
      (await store.load()).state!.window.at(-1)!,
      MONEY.map(({ id }) => id),
    ),
  ),
  mined: (await store.above(-1)).toSorted((one, other) => (one.id < other.id ? -1 : 1)),
});
const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).toSorted();

let networks = 0;
const newTables = () => chainTables(pool, `network-${(networks += 1)}`, KIND.windowBlocks);

test('holds the same as the tables in memory after any history', async () => {
  await fc.assert(
    fc.asyncProperty(fc.option(anyLie), fc.array(steps, { maxLength: 12 }), async (lie, history) => {
      const contents = [];
      for (const store of [newTables(), undefined]) {
        const chain = simulatedChain();
        chain.mineMany(12);
        const watching = chainProcesses(chain, store && { store });
        await watching.readOn();
        chain.setLie(lie?.() ?? null);
        for (const step of history) await step(chain, watching);
        watching.restart();
        await watching.readOn();
        contents.push(await contentOf(watching.tables.store));
        await settle(chain, watching);
        contents.push(await contentOf(watching.tables.store));
      }
      expect(contents.slice(0, 2)).toEqual(contents.slice(2));
    }),
    { numRuns: process.env.EXTENDED ? 100 : 8 },
  );
}, 240_000);

test('reads the transfers to one address once, however many there are', async () => {
  const [network, transfers] = ['dust', 300];
  await pool.query(
    `insert into payments.chain_transfers (network, id, tx_hash, address, asset, units, seen_at, height, hash, readings)
     select $1, n || ':0', n, 'address', 'asset', 1, now(), 1, 'hash', 1 from generate_series(1, $2::int) as n`,
    [network, transfers],
  );
  const own = createPool({ url: database.url, name: 'counted', max: 1, log });
  const rowsRead = async (): Promise<number> => {
    await own.query('select pg_stat_force_next_flush()');
    const { rows } = await own.query<{ read: string }>(
      "select seq_tup_read + idx_tup_fetch as read from pg_stat_user_tables where relname = 'chain_transfers'",
    );
    return Number(rows[0]!.read);
  };
  const before = await rowsRead();
  const open = await chainTables(own, network, KIND.windowBlocks).open();
  expect(open.map(({ unitsAtAddress }) => unitsAtAddress)).toEqual(open.map(() => BigInt(transfers)));
  const read = (await rowsRead()) - before;
  await own.end();
  // A sum for each transfer would read the square of their number.
  expect([open.length, read >= transfers, read < 20 * transfers]).toEqual([transfers, true, true]);
});

test('keeps the outputs that a transaction spends, and amounts of any size', async () => {
  const chain = simulatedChain();
  const watching = chainProcesses(chain, { store: newTables() });
  const transfer = transferOf('large', { spends: ['x:0', 'y:1'], minConfirmations: 100, units: 10n ** 30n });
  await watching.readOn();
  chain.mine(transfer);
  await watching.readOn();
  expect(await watching.tables.store.withIds([transfer.id])).toMatchObject([
    { ...transfer, required: 100, block: chain.refAt(1) },
  ]);
});

test('keeps the transaction by which the payer replaced a transfer', async () => {
  const chain = simulatedChain();
  const watching = chainProcesses(chain, { store: newTables() });
  const original = transferOf('original', { spends: ['coin:0'] });
  await watching.readOn();
  chain.setPool([original]);
  await watching.readOn();
  chain.setPool([]);
  chain.mine(transferOf('bumped', { spends: ['coin:0'], address: original.address }));
  await watching.readOn();
  const stored = () => watching.tables.store.withIds([original.id]);
  expect(await stored()).toMatchObject([{ conflictAt: 1, replacedBy: 'bumped' }]);
  chain.drop(1);
  chain.mineMany(2);
  await watching.readOn();
  expect(await stored()).toMatchObject([{ conflictAt: null, replacedBy: null }]);
});

test('begins a rescan only once, and moves no cursor before', async () => {
  const chain = simulatedChain();
  chain.mineMany(30);
  const store = newTables();
  const watching = chainProcesses(chain, { store });
  await watching.readOn();
  const network = `network-${networks}`;
  await pool.query('update payments.chain_cursors set rescan_from = 5 where network = $1', [network]);
  const { state } = await store.load();
  expect(await store.commit(state!.window.at(-1)!, { cursor: state!.window[0]!, transfers: [] })).toBe(false);
  await watching.readOn();
  expect(await store.load()).toMatchObject({ rescanFrom: null });
  expect(watching.recorded.places.at(-1)).toMatchObject({ height: 4 });
});

test('shows operators what each node showed and why the chain stalled, until it is current again', async () => {
  const store = newTables();
  const network = `network-${networks}`;
  const at = new Date('2026-01-31T12:00:00.000Z');
  const view = { height: 120, hash: '0x78', time: at, seenAt: new Date(at.getTime() + 1_000) };
  const nodes = [
    { ...view, number: 1, isUsed: true },
    { ...view, number: 2, height: 90, isUsed: false },
  ];
  await store.mark({ tip: 120, readAt: null, halted: 'wrong chain', stalled: 'every node is frozen', nodes });
  await store.mark({ tip: null, readAt: null, halted: 'wrong chain' });
  const status = async () => {
    const lines: string[] = [];
    const command = {
      db: pool,
      assets: [],
      networks: [network],
      print: (line: string) => lines.push(line),
      warn: () => {},
    };
    const code = await executeChains(['status'], command);
    return { code, lines: lines.filter((line) => line.startsWith(network)) };
  };
  expect(await status()).toEqual({
    code: 1,
    lines: [
      `${network}: nothing was read, 0 transfers may still change`,
      `${network}: node 1 showed block 120 of 2026-01-31T12:00:00.000Z at 2026-01-31T12:00:01.000Z`,
      `${network}: node 2 showed block 90 of 2026-01-31T12:00:00.000Z at 2026-01-31T12:00:01.000Z, not used`,
      expect.stringMatching(/: HALTED: wrong chain\. .*rescan with --apply from below the fork$/),
      `${network}: STALLED: every node is frozen`,
    ],
  });
  await store.mark({ tip: 121, readAt: null, halted: null, stalled: null });
  expect(await store.load()).toMatchObject({ halted: null, stalled: null });
  expect((await status()).lines.slice(3)).toEqual([]);
});

test('is not read past an instant while further blocks can have the same time', async () => {
  const time = new Date('2026-01-31T12:00:00.000Z');
  await newTables().begin('0x0', null, { cursor: { height: 4, hash: '0x4', time, nodes: [1] }, transfers: [] });
  const network = `network-${networks}`;
  const readStatus = readStatusOf(pool, new Map([[network, chainKindOf('eip155:42161')]]));
  expect(await readStatus(network, time, [])).toBe('unread');
  expect(await readStatus(network, new Date(time.getTime() - 1), [])).toBe('reported');
});

test('the newest blocks tell every service what time it is, where blocks come at known intervals', async () => {
  const own = { now: () => new Date(), steadyMs: () => Date.now() };
  const [chains] = databaseClocks(pool).clocks.filter(({ name }) => name === 'chains');
  const node = { number: 1, height: 9, hash: '0x9', seenAt: new Date(), isUsed: true };
  const showing = async (chainId: string, time: Date) => {
    const store = chainTables(pool, chainId, KIND.windowBlocks, timesOfBlocks(chainId));
    await store.mark({ tip: 9, readAt: null, halted: null, nodes: [{ ...node, time }] });
  };
  await showing('eip155:31337', new Date(0));
  expect(await chains!.read(own)).toBeNull();
  expect(chains!.isExpected!()).toBe(false);
  await showing('eip155:1', new Date(Date.now() - 12_000));
  const { fromMs, toMs } = (await chains!.read(own))!;
  expect(fromMs).toBeLessThan(0);
  expect(toMs).toBeGreaterThan(0);
  expect(toMs - fromMs).toBe(3 * 60_000 + 15_000);
});
