import { reportSkipped } from './binaries.ts';
import type { BitcoinNode } from './node-process.ts';
import { findBitcoind, startBitcoind } from './bitcoind.ts';
import { findBtcd, startBtcd } from './btcd.ts';

/** Bitcoin nodes for tests. bitcoind is from Bitcoin Core or from its fork, Bitcoin Knots. */
export const BITCOIN_NODES = {
  btcd: { find: findBtcd, start: startBtcd, install: 'install-btcd.mjs builds it with Go' },
  bitcoind: { find: findBitcoind, start: startBitcoind, install: 'install-bitcoind.mjs installs it where apt is' },
} as const;

export type BitcoinNodeName = keyof typeof BITCOIN_NODES;

export const BITCOIN_NODE_NAMES = Object.keys(BITCOIN_NODES) as BitcoinNodeName[];

/** Whether tests can run on a Bitcoin node. Otherwise reports that they are skipped. */
export const canTestOn = (name: BitcoinNodeName, tests: string): boolean => {
  const { find, install } = BITCOIN_NODES[name];
  if (find()) return true;
  reportSkipped(`${tests} are skipped: ${name} is missing; node scripts/${install}`);
  return false;
};

/** Connects two nodes, which then follow the chain with more work. */
export const connectPeers = async (node: BitcoinNode, other: BitcoinNode): Promise<void> =>
  void (await node.call('addnode', other.peer, 'add'));

/** Copies the blocks of a node up to a height to another one without connecting them. */
export const copyBlocks = async (from: BitcoinNode, to: BitcoinNode, height: number): Promise<void> => {
  for (let at = (await to.call<number>('getblockcount')) + 1; at <= height; at += 1) {
    const hash = await from.call<string>('getblockhash', at);
    await to.call('submitblock', await from.call<string>('getblock', hash, 0));
  }
};
