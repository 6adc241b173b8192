import type { Network } from '@cpg/assets';
import {
  BITCOIN_NODE_NAMES,
  BITCOIN_NODES,
  type BitcoinNode,
  type BitcoinNodeName,
  canTestOn,
  copyBlocks,
  mineBitcoin,
} from '@cpg/local-chain';
import { Address, TEST_NETWORK } from '@scure/btc-signer';
import { bitcoinAssets, testWallet } from '../../testing/jest-bitcoin.ts';
import type { ChainSource } from '../chain-source.ts';
import { watchedIn } from '../reading/watched-addresses.ts';
import { bitcoinSource } from './bitcoin-source.ts';

// Source: BIP350, test vectors.
const TAPROOT_KEY = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const miner = testWallet(1);
const payee = testWallet(2);
const other = testWallet(3);
const watched = watchedIn(new Set([payee.address, other.address]));

const openSource = (url: string, table = bitcoinAssets()) =>
  bitcoinSource({
    network: table.networks[0] as Extract<Network, { kind: 'bitcoin' }>,
    asset: table.assets[0]!,
    nodes: { urls: [url] },
  });

for (const name of BITCOIN_NODE_NAMES) {
  const describeOn = canTestOn(name, 'tests of reading a Bitcoin chain') ? describe : describe.skip;
  describeOn(`on ${name}`, () => readsChainOf(name));
}

function readsChainOf(name: BitcoinNodeName) {
  let node: BitcoinNode;
  let source: ChainSource & { close: () => Promise<void> };
  const mine = (count: number, to = miner.address) => mineBitcoin(node.call, count, to);
  const unitsOfCoinbase = async (block: string): Promise<bigint> => {
    const { transfers } = await source.block((await refOf(block))!, watchedIn(new Set([miner.address])));
    return transfers.find(({ minConfirmations }) => minConfirmations !== undefined)!.units;
  };
  const refOf = async (hash: string) =>
    source.at((await node.call<{ height: number }>('getblockheader', hash, true)).height);
  let coin: { txid: string; index: number; units: bigint };

  beforeAll(async () => {
    node = await BITCOIN_NODES[name].start({ miningAddress: miner.address });
    const [first] = await mine(101);
    const { tx } = await node.call<{ tx: string[] }>('getblock', first, 1);
    coin = { txid: tx[0]!, index: 0, units: 5_000_000_000n };
    source = openSource(node.url);
  });
  afterAll(async () => {
    await source.close();
    await node.stop();
  });

  test('sees a payment in the mempool, and in the block that mines it', async () => {
    await source.verify();
    const before = await source.tip();
    expect(before.height).toBe(101);
    expect(await source.mempool!(watched)).toEqual([]);

    const { id, raw } = miner.pay(coin, [
      { address: payee.address, units: 123_456n },
      { address: miner.address, units: 4_999_000_000n },
      { address: other.address, units: 1n + 10_000n },
    ]);
    await node.call('sendrawtransaction', raw);
    const spends = [`${coin.txid}:0`];
    const asset = 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328/slip44:1';
    const transfers = [
      { id: `${id}:0`, txHash: id, address: payee.address, asset, units: 123_456n, spends },
      { id: `${id}:2`, txHash: id, address: other.address, asset, units: 10_001n, spends },
    ];
    expect(await source.mempool!(watched)).toEqual(transfers);
    expect(await source.mempool!(watched)).toEqual(transfers);

    await mine(1);
    const tip = await source.tip();
    expect(tip).toMatchObject((await source.at(102))!);
    expect(await source.at(103)).toBeNull();
    const block = await source.block(tip, watched);
    expect(block).toMatchObject({ ref: tip, parent: before.hash, transfers });
    expect(block.spent!(`${coin.txid}:0`)).toBe(id);
    expect(block.spent!(`${coin.txid}:1`)).toBeUndefined();
    expect(await source.mempool!(watched)).toEqual([]);
  });

  test('says that newly mined coins need 100 confirmations', async () => {
    const { transfers } = await source.block(await source.tip(), watchedIn(new Set([miner.address])));
    expect(transfers.find(({ minConfirmations }) => minConfirmations === 100)?.spends).toEqual([]);
    expect(transfers.filter(({ minConfirmations }) => minConfirmations === undefined)).toHaveLength(1);
  });

  test('follows the branch that the node follows', async () => {
    const orphaned = await source.tip();
    await node.call('invalidateblock', orphaned.hash);
    expect((await source.tip()).height).toBe(orphaned.height - 1);
    expect(await source.at(orphaned.height)).toBeNull();
    // The same miner could build the same block again.
    await mine(2, testWallet(4).address);
    const replaced = await source.at(orphaned.height);
    expect(replaced!.hash).not.toBe(orphaned.hash);
    expect((await source.block(replaced!, watched)).transfers).toHaveLength(2);
  });

  test('sees payments to addresses of every form, and from whom they come', async () => {
    const regtest = Address({ ...TEST_NETWORK, bech32: 'bcrt' });
    const hash = new Uint8Array(20).fill(7);
    const pubkey = new Uint8Array(Buffer.from(TAPROOT_KEY, 'hex'));
    const addresses = [
      regtest.encode({ type: 'pkh', hash }),
      regtest.encode({ type: 'sh', hash }),
      regtest.encode({ type: 'wsh', hash: new Uint8Array(32).fill(7) }),
      regtest.encode({ type: 'tr', pubkey }),
    ];
    const [coins] = await mine(1);
    await mine(100);
    const { tx } = await node.call<{ tx: string[] }>('getblock', coins, 1);
    const units = await unitsOfCoinbase(coins!);
    const { id, raw } = miner.pay({ txid: tx[0]!, index: 0, units }, [
      ...addresses.map((address) => ({ address, units: 10_000n })),
      { address: miner.address, units: units - 50_000n },
    ]);
    await node.call('sendrawtransaction', raw);
    await mine(1);
    const { ref, transfers } = await source.block(await source.tip(), watchedIn(new Set(addresses)));
    expect(transfers.map(({ id: transfer, address }) => [transfer, address])).toEqual(
      addresses.map((address, vout) => [`${id}:${vout}`, address]),
    );
    const spending = { txHash: id, spends: transfers[0]!.spends!, block: ref };
    expect(await source.spendsFrom!(spending, [other.address, miner.address])).toBe(true);
    expect(await source.spendsFrom!(spending, [other.address, payee.address])).toBe(false);
    if (name !== 'bitcoind') return;
    // It keeps the spent outputs of each block, to undo it.
    const unindexed = await BITCOIN_NODES.bitcoind.start({ hasIndex: false });
    await copyBlocks(node, unindexed, ref.height);
    const withoutIndex = openSource(unindexed.url);
    await expect(unindexed.call('getrawtransaction', tx[0], 0)).rejects.toThrow(/txindex/);
    expect(await withoutIndex.spendsFrom!(spending, [other.address, miner.address])).toBe(true);
    expect(await withoutIndex.spendsFrom!(spending, [other.address, payee.address])).toBe(false);
    await withoutIndex.close();
    await unindexed.stop();
  });

  test('refuses another chain by its genesis block', async () => {
    const foreign = openSource(node.url, bitcoinAssets('bip122:000000000019d6689c085ae165831e93'));
    await expect(foreign.verify()).rejects.toThrow(
      /^node 1 of bitcoin-local has the genesis block 0f9188f1.*, but bip122:0+19d6689c085ae165831e93 begins with/,
    );
    await foreign.close();
  });
}
