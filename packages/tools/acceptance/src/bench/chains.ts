import { scalesOf } from '@cpg/contracts';
import { type AssetTable, assetTable, readAssets } from '@cpg/assets';
import { TEST_TOKENS } from '@cpg/local-chain';
import { blocksAhead } from '@cpg/payments/blocks-ahead.js';
import { openChainSource } from '@cpg/payments/open-chain-source.js';
import { Pool } from 'undici';
import {
  bitcoinCalls,
  type Call,
  evmCalls,
  recordBitcoinBlocks,
  recordEvmBlocks,
  startRecordedNode,
} from './chains/recorded-blocks.ts';
import { openWatchedTables, type Watched } from './chains/watched-tables.ts';
import { atMost, mib, ms, rate, type Row } from './report.ts';
import { inTurns } from './timings.ts';

const BLOCKS = 10;
const BITCOIN_TRANSACTIONS = 2_000;
const EVM_TRANSFERS = 200;
const FEW_WATCHED = 10_000;
const MANY_WATCHED = Number(process.env.ADDRESSES ?? 10_000_000);
const ROUNDS = 9;
const WARM_UP = 3;
/** Of the time of a block with many addresses to that with few. */
const MAX_WATCHED_RATIO = 1.5;
const MAX_WATCHED_MIB = 50;

/** Account keys of the sandbox, by kind of network. */
const XPUBS = Object.fromEntries(
  readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 }).networks.map(({ kind, xpub }) => [kind, xpub!] as const),
);

const SCALES = scalesOf({ CAZ_DECIMALS: 18 });

const bitcoinTable = assetTable(
  {
    networks: [{ network: 'bitcoin', chain_id: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328', xpub: XPUBS.bitcoin! }],
    assets: [
      { currency: 'BTC', network: 'bitcoin', native: true, decimals: 8, smallest_payable: '0.00001', confirmations: 1 },
    ],
  },
  SCALES,
);

const evmTable: AssetTable = assetTable(
  {
    networks: [{ network: 'evm', chain_id: 'eip155:31337', xpub: XPUBS.evm! }],
    assets: [
      { currency: 'ETH', network: 'evm', native: true, decimals: 18, smallest_payable: '0.0001', confirmations: 1 },
      ...TEST_TOKENS.filter(({ currency }) => currency !== 'CAZ').map(({ currency, decimals, contract }) => ({
        currency,
        network: 'evm',
        contract,
        decimals,
        smallest_payable: '0.01',
        confirmations: 1,
      })),
    ],
  },
  SCALES,
);

interface RecordedChain {
  readonly name: string;
  readonly table: AssetTable;
  /** Height of the first block to read. */
  readonly first: number;
  /** The calls that fetch everything about one block. */
  readonly calls: (ref: { hash: string; height: number }) => readonly Call[];
}

/** Compares reading blocks in catch-up to only fetching them, and reading with very many addresses to reading with
 *  few. */
export const chains = async (): Promise<Row[]> => {
  const tables = await openWatchedTables();
  const { first, answers } = await recordEvmBlocks(BLOCKS, EVM_TRANSFERS);
  const node = await startRecordedNode([...answers, ...recordBitcoinBlocks(BLOCKS, BITCOIN_TRANSACTIONS)]);
  const recorded: RecordedChain[] = [
    { name: `Bitcoin, ${BITCOIN_TRANSACTIONS} transactions`, table: bitcoinTable, first: 1, calls: bitcoinCalls },
    { name: `EVM, ${EVM_TRANSFERS} transfers`, table: evmTable, first, calls: evmCalls },
  ];
  try {
    const few = await tables.fill(FEW_WATCHED);
    console.log(`${MANY_WATCHED} addresses`);
    const many = await tables.fill(MANY_WATCHED);
    const opened = await Promise.all(recorded.map((chain) => open(chain, node.url)));
    const rows: Row[] = [];
    for (const chain of opened) rows.push(...(await measureWatched(chain, few, many)));
    for (const chain of opened) rows.push(...(await measureReading(chain, node.url, few)));
    await Promise.all(opened.map(({ source }) => source.close()));
    return rows;
  } finally {
    node.stop();
    await tables.stop();
  }
};

/** The source of a chain, and the blocks to read. */
const open = async ({ name, table, first, calls }: RecordedChain, url: string) => {
  const source = openChainSource(table.networks[0]!, table.assets, { urls: [url] });
  await source.verify();
  const refs = await Promise.all(Array.from({ length: BLOCKS }, (_, index) => source.at(first + index)));
  return { name, calls, source, refs: refs.map((ref) => ref!) };
};

type Opened = Awaited<ReturnType<typeof open>>;

/** The time of a block, and the memory that reading adds, with many addresses beside few. */
const measureWatched = async ({ name, source, refs }: Opened, few: Watched, many: Watched): Promise<Row[]> => {
  const read = (watched: Watched) => async () => {
    for (const ref of refs) await source.block(ref, watched);
  };
  await inTurns(ROUNDS, [read(few)], WARM_UP);
  const before = process.memoryUsage.rss();
  await inTurns(ROUNDS, [read(many)]);
  const added = process.memoryUsage.rss() - before;
  const [fewMs, manyMs] = (await inTurns(ROUNDS, [read(few), read(many)])) as [number, number];
  return [
    {
      measure: `${name}: time of a block with ${MANY_WATCHED} addresses`,
      measured: ms(manyMs / BLOCKS),
      baseline: { text: `${ms(fewMs / BLOCKS)} with ${FEW_WATCHED}`, ratio: manyMs / fewMs },
      goal: atMost(manyMs / fewMs, MAX_WATCHED_RATIO, ' x the time'),
    },
    {
      measure: `${name}: memory that ${MANY_WATCHED} addresses add`,
      measured: mib(added),
      goal: atMost(added / 2 ** 20, MAX_WATCHED_MIB, ' MiB'),
    },
  ];
};

/** Compares catch-up to only fetching the blocks, and measures the CPU time of a block. */
const measureReading = async ({ name, calls, source, refs }: Opened, url: string, watched: Watched): Promise<Row[]> => {
  const pool = new Pool(url, { connections: 8 });
  const fetchAll = async () => {
    for (const ref of refs) await Promise.all(calls(ref).map((call) => fetchOnly(pool, call)));
  };
  let cpuMs = 0;
  const catchUp = async () => {
    const before = process.cpuUsage();
    const blocks = blocksAhead(source, { refresh: async () => watched }, refs.at(-1)!.height, 4);
    for (const { height } of refs) await blocks.block((await blocks.at(height))!);
    const { user, system } = process.cpuUsage(before);
    cpuMs += (user + system) / 1_000;
  };
  const [fetchMs, catchUpMs] = (await inTurns(ROUNDS, [fetchAll, catchUp], WARM_UP)) as [number, number];
  await pool.destroy();
  const perSecond = (durationMs: number) => rate((BLOCKS * 1_000) / durationMs);
  return [
    {
      measure: `${name}: blocks in catch-up`,
      measured: perSecond(catchUpMs),
      baseline: { text: `${perSecond(fetchMs)} fetched only, one after another`, ratio: fetchMs / catchUpMs },
    },
    { measure: `${name}: CPU time of a block`, measured: ms(cpuMs / (ROUNDS + WARM_UP) / BLOCKS) },
  ];
};

/** Fetches an answer, parses it and drops it. */
const fetchOnly = async (pool: Pool, [method, params]: Call): Promise<void> => {
  const { body } = await pool.request({
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await body.json()) as { result?: unknown };
  if (!answer.result) throw new Error(`${method} gave no result`);
};
