import { spawnSync } from 'node:child_process';
import { type BtcdNode, bitcoinWallet, type BitcoinWallet, findBtcd, installBtcd, startBtcd } from '@cpg/local-chain';
import { type Stack, startStack } from '../harness/stack.ts';
import { type Desk, openDesk } from './desk.ts';

export const BITCOIN_NETWORK = 'bitcoin-regtest';

/** Tests on a Bitcoin chain run where btcd is there, or Go to build it. */
export const onBitcoin = findBtcd() || spawnSync('go', ['version']).status === 0 ? describe : describe.skip;

export interface BitcoinStack {
  readonly stack: Stack;
  readonly node: BtcdNode;
  readonly wallet: BitcoinWallet;
  readonly desk: Desk;
  readonly stop: () => Promise<void>;
}

/** A stack that reads a Bitcoin node with a chain of its own, and a wallet with coins there. */
export const startBitcoinStack = async (): Promise<BitcoinStack> => {
  installBtcd();
  const wallet = bitcoinWallet(7);
  const node = await startBtcd({ miningAddress: wallet.address });
  try {
    await wallet.fund(node.call);
    const stack = await startStack({ env: { BITCOIND_URL: node.url, WEBHOOK_RETRY_SECONDS: '1,1,1' } });
    const desk = await openDesk(stack, BITCOIN_NETWORK);
    const stop = async () => {
      await desk.close();
      await stack.stop();
      await node.stop();
    };
    return { stack, node, wallet, desk, stop };
  } catch (error) {
    await node.stop();
    throw error;
  }
};
