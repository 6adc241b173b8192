import type { Network } from '@cpg/assets';
import { type ChainNode, mined, startAnvil } from '@cpg/local-chain';
import { evmPayer, localAssets } from './jest-evm.ts';
import { type NodeProxy, startNodeProxy } from './jest-node-proxy.ts';
import type { BlockRef } from '../chains/chain-source.ts';
import { type NodesOptions } from '../chains/nodes/nodes.ts';
import { watchedIn } from '../chains/reading/watched-addresses.ts';
import { evmSource } from '../chains/evm/evm-source.ts';

export const WATCHED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
export const OTHER = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
export const STRANGER = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
export const watched = watchedIn(new Set([WATCHED, OTHER]));
export const ETH = 'eip155:31337/slip44:60';

// A chain of its own for each file of tests that imports this.
export let anvil: ChainNode;
export let proxy: NodeProxy;
export let pay: ReturnType<typeof evmPayer>;
const opened: { close: () => Promise<void> }[] = [];

beforeAll(async () => {
  anvil = await startAnvil();
  pay = evmPayer(anvil);
  await pay.deploy();
  proxy = await startNodeProxy(({ method, params }) => anvil.call(method, ...params));
});
afterEach(() => void (proxy.falsify = () => undefined));
afterAll(async () => {
  for (const source of opened) await source.close();
  await proxy.close();
  await anvil.stop();
});

/** A source that the end of the tests closes. */
export const open = (options: Partial<NodesOptions> = {}, table = localAssets()) => {
  const network = table.networks[0] as Extract<Network, { kind: 'evm' }>;
  const source = evmSource({ network, assets: table.assets, nodes: { urls: [anvil.url], ...options } });
  opened.push(source);
  return source;
};

/** The block that contains a transaction. */
export const blockOf = async (hash: string): Promise<BlockRef> => {
  const { blockNumber, blockHash } = await mined(anvil.call, hash);
  return { height: Number(blockNumber), hash: blockHash };
};

/** The transfers of the block that contains a transaction. */
export const transfersWith = async (hash: string, source = open()) =>
  (await source.block(await blockOf(hash), watched)).transfers;

/** Mines what `send` sends in one block. */
export const inOneBlock = async (send: () => Promise<string[]>): Promise<string[]> => {
  await anvil.call('evm_setAutomine', false);
  const hashes = await send();
  await anvil.call('evm_mine');
  await anvil.call('evm_setAutomine', true);
  return hashes;
};
