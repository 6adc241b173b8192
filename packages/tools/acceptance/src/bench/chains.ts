import { type AssetTable, assetTable, readAssets } from '@cpg/assets';
import { TEST_TOKENS } from '@cpg/local-chain';
import { bitcoinCalls, recordBitcoinBlocks } from './chains/bitcoin-blocks.ts';
import { evmCalls, recordEvmBlocks } from './chains/evm-blocks.ts';
import type { BenchedChain } from './chains/benched-chain.ts';
import { measureReading } from './chains/reading.ts';
import { startRecordedNode } from './chains/recorded-node.ts';
import { measureWatched, openWatchedTables } from './chains/watched.ts';
import type { Row } from './report.ts';

const BLOCKS = 10;
const BITCOIN_TRANSACTIONS = 2_000;
const EVM_TRANSFERS = 200;
const WATCHED = 10_000;
const MANY_WATCHED = Number(process.env.ADDRESSES ?? 10_000_000);

/** Account keys of the sandbox, by kind of network. */
const XPUBS = Object.fromEntries(
  readAssets({ ENVIRONMENT: 'sandbox' }).networks.map(({ kind, xpub }) => [kind, xpub!] as const),
);

const bitcoinTable = assetTable({
  networks: [{ network: 'bitcoin', chain_id: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328', xpub: XPUBS.bitcoin! }],
  assets: [
    { currency: 'BTC', network: 'bitcoin', native: true, decimals: 8, smallest_payable: '0.00001', confirmations: 1 },
  ],
});

const evmTable: AssetTable = assetTable({
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
});

/** Compares reading blocks in catch-up to only fetching them, and reading with very many addresses to reading with
 *  few. */
export const chains = async (): Promise<Row[]> => {
  const tables = await openWatchedTables();
  const { first, answers } = await recordEvmBlocks(BLOCKS, EVM_TRANSFERS);
  const node = await startRecordedNode([...answers, ...recordBitcoinBlocks(BLOCKS, BITCOIN_TRANSACTIONS)]);
  const shared = { url: node.url, blocks: BLOCKS };
  const bitcoin: BenchedChain = {
    ...shared,
    name: `Bitcoin, ${BITCOIN_TRANSACTIONS} transactions`,
    table: bitcoinTable,
    first: 1,
    calls: bitcoinCalls,
  };
  const evm: BenchedChain = {
    ...shared,
    name: `EVM, ${EVM_TRANSFERS} transfers`,
    table: evmTable,
    first,
    calls: evmCalls,
  };
  try {
    const few = await tables.fill(WATCHED);
    console.log(`${MANY_WATCHED} addresses`);
    const many = await tables.fill(MANY_WATCHED);
    const counts = { few: WATCHED, many: MANY_WATCHED };
    return [
      ...(await measureWatched(bitcoin, few, many, counts)),
      ...(await measureWatched(evm, few, many, counts)),
      ...(await measureReading(bitcoin, few, WATCHED)),
      ...(await measureReading(evm, few, WATCHED)),
    ];
  } finally {
    node.stop();
    await tables.stop();
  }
};
