import {
  BITCOIN_NODE_NAMES,
  BITCOIN_NODES,
  type BitcoinNode,
  type BitcoinNodeName,
  bitcoinWallet,
  type BitcoinWallet,
  canTestOn,
  mineBitcoin,
} from '@cpg/local-chain';
import { type NodeRoute, routeTo } from '../harness/proxies.ts';
import type { Stack } from '../harness/stack.ts';
import { type Deposit, type Desk, startDesk } from './desk.ts';

export const BITCOIN_NETWORK = 'bitcoin-regtest';

export interface BitcoinStack {
  readonly stack: Stack;
  readonly desk: Desk;
  readonly node: BitcoinNode;
  /** What the stack reads: the node, until a test changes it. */
  readonly route: NodeRoute;
  /** Has coins on the chain. */
  readonly wallet: BitcoinWallet;
  /** Creates an order that is paid in BTC. */
  readonly order: () => ReturnType<Desk['order']>;
  /** Mines blocks and resolves to their hashes, which are unique even after a reorganization. */
  readonly mine: (count?: number) => Promise<string[]>;
  readonly stop: () => Promise<void>;
}

/** A stack that reads a Bitcoin node with a chain of its own. `environmentFor` adds to its environment. */
export const startBitcoinStack = async (
  name: BitcoinNodeName,
  environmentFor: (node: BitcoinNode) => Promise<NodeJS.ProcessEnv> = async () => ({}),
): Promise<BitcoinStack> => {
  const wallet = bitcoinWallet(7);
  const node = await BITCOIN_NODES[name].start({ miningAddress: wallet.address });
  const route = await routeTo(node);
  try {
    await wallet.fund(node.call);
    const env = await environmentFor(node);
    const { stack, desk } = await startDesk(BITCOIN_NETWORK, {
      env: { BITCOIND_URL: route.url, WEBHOOK_RETRY_SECONDS: '1,1,1', ...env },
    });
    let miner = 1_000;
    return {
      stack,
      desk,
      node,
      route,
      wallet,
      order: () => desk.order({ payment_currency: 'BTC' }),
      mine: (count = 1) => mineBitcoin(node.call, count, bitcoinWallet((miner += 1)).address),
      stop: async () => {
        await desk.close();
        await stack.stop();
        route.close();
        await node.stop();
      },
    };
  } catch (error) {
    route.close();
    await node.stop();
    throw error;
  }
};

/** The address and the units that pay a deposit in full. */
export const dueOf = ({ address, amount_units }: Deposit): { address: string; units: bigint } => ({
  address,
  units: BigInt(amount_units),
});

/** Describes tests on each Bitcoin node. Where a node is missing, they are counted as skipped. */
export const onEachBitcoinNode = (title: string, tests: (name: BitcoinNodeName) => void): void => {
  for (const name of BITCOIN_NODE_NAMES)
    (canTestOn(name, 'tests of Bitcoin deposits') ? describe : describe.skip)(`${title}, by ${name}`, () =>
      tests(name),
    );
};
