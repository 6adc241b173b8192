import {
  BITCOIN_NODES,
  type BitcoinNode,
  type BitcoinNodeName,
  bitcoinWallet,
  type BitcoinWallet,
  mineBitcoin,
} from '@cpg/local-chain';
import { type Stack, startStack } from '../harness/stack.ts';

export const BITCOIN_NETWORK = 'bitcoin-regtest';

export interface BitcoinStack {
  readonly stack: Stack;
  readonly node: BitcoinNode;
  /** Has coins on the chain. */
  readonly wallet: BitcoinWallet;
  /** Mines blocks and resolves to their hashes. No two of them are the same, also after a reorganization. */
  readonly mine: (count?: number) => Promise<string[]>;
  readonly stop: () => Promise<void>;
}

/** A stack that reads a Bitcoin node with a chain of its own. */
export const startBitcoinStack = async (name: BitcoinNodeName, env: NodeJS.ProcessEnv = {}): Promise<BitcoinStack> => {
  const wallet = bitcoinWallet(7);
  const node = await BITCOIN_NODES[name].start({ miningAddress: wallet.address });
  try {
    await wallet.fund(node.call);
    const stack = await startStack({ env: { BITCOIND_URL: node.url, WEBHOOK_RETRY_SECONDS: '1,1,1', ...env } });
    let miner = 1_000;
    return {
      ...{ stack, node, wallet },
      mine: (count = 1) => mineBitcoin(node.call, count, bitcoinWallet((miner += 1)).address),
      stop: async () => {
        await stack.stop();
        await node.stop();
      },
    };
  } catch (error) {
    await node.stop();
    throw error;
  }
};
