import { createHash } from 'node:crypto';
import type { Random } from '../harness/random.ts';
import { BITCOIN_NETWORK, type BitcoinStack, onEachBitcoinNode, startBitcoinStack } from './bitcoin-stack.ts';
import {
  delaying,
  type Lie,
  type LyingChain,
  type LyingNode,
  lyingSeeds,
  type NodeAnswer,
  rpcError,
  SLOW,
  sometimes,
  startLyingNode,
  testSeeds,
} from './lying-nodes.ts';

/** Kinds of lies of a Bitcoin node. Each is made at a height, from a source of random numbers. */
const BITCOIN_LIES: Readonly<Record<string, (random: Random, height: number) => Lie>> = {
  'leaves out transactions': (random) => sometimes(0.7, random.next, leavingOut),
  'multiplies amounts': (random) => sometimes(0.7, random.next, multiplying),
  'answers late': (random) => delaying(300, random.next),
  freezes: (_random, height) => frozenAt(height),
  'limits the rate': (random) =>
    sometimes(0.7, random.next, () =>
      random.pick<NodeAnswer>([
        rpcError(-28, 'Loading block index…'),
        { status: 429, retryAfterSeconds: 1 },
        { status: 503 },
      ]),
    ),
  forks: (_random, height) => forkedAbove(height),
  'answers stale': (random) => sometimes(0.6, random.next, stale()),
};

/** Changes the bytes of a block, as hex. */
const changingBlocks =
  (change: (hex: string) => string): Lie =>
  ({ method }, honest) => {
    if (method !== 'getblock' || !('result' in honest) || typeof honest.result !== 'string') return honest;
    return { result: change(honest.result) };
  };

const HEADER_DIGITS = 160;

/** Only the header and the first transactions: the count says one transaction less. */
const leavingOut = changingBlocks((hex) => {
  const count = Number.parseInt(hex.slice(HEADER_DIGITS, HEADER_DIGITS + 2), 16);
  const less = Math.max(0, count - 1);
  return hex.slice(0, HEADER_DIGITS) + less.toString(16).padStart(2, '0') + hex.slice(HEADER_DIGITS + 2);
});

/** Amounts stand before the scripts of our addresses: the higher bytes of each are raised. */
const multiplying = changingBlocks((hex) =>
  hex.replace(/([0-9a-f]{16})(?=160014)/g, (amount) => `ff${amount.slice(2)}`),
);

/** Knows no block above a height. */
const frozenAt = (height: number): Lie => {
  const later = new Set<string>();
  return async ({ method, params }, honest, ask) => {
    if (!('result' in honest)) return honest;
    if (method === 'getblockcount' && Number(honest.result) > height) return { result: height };
    if (method === 'getbestblockhash') {
      const last = await ask('getblockhash', height);
      if ('result' in last && last.result === honest.result) return honest;
      later.add(String(honest.result));
      return last;
    }
    if (method === 'getblockheader' && later.has(String(params[0]))) return rpcError(-5, 'Block not found');
    if (method === 'getblockhash' && Number(params[0]) > height) {
      later.add(String(honest.result));
      return rpcError(-8, 'Block height out of range');
    }
    if (method === 'getblock' && later.has(String(params[0]))) return rpcError(-5, 'Block not found');
    return honest;
  };
};

const ownHash = (hash: string): string => createHash('sha256').update(hash).digest('hex');

/** Names other hashes above a height, and knows no block of the other branch. */
const forkedAbove = (height: number): Lie => {
  const other = new Set<string>();
  return ({ method, params }, honest) => {
    if (method === 'getblockhash' && Number(params[0]) > height && 'result' in honest) {
      other.add(String(honest.result));
      return { result: ownHash(String(honest.result)) };
    }
    if (method === 'getbestblockhash' && 'result' in honest) return { result: ownHash(String(honest.result)) };
    const isOfBlock = method === 'getblock' || method === 'getblockheader';
    return isOfBlock && other.has(String(params[0])) ? rpcError(-5, 'Block not found') : honest;
  };
};

/** Repeats its first answers about the newest block and the mempool. */
const stale = (): Lie => {
  const first = new Map<string, NodeAnswer>();
  return ({ method }, honest) => {
    if (!['getblockcount', 'getbestblockhash', 'getrawmempool'].includes(method)) return honest;
    if (!first.has(method)) first.set(method, honest);
    const earlier = first.get(method)!;
    return JSON.stringify(earlier) === JSON.stringify(honest) ? honest : earlier;
  };
};

/** Of the asset in the sandbox: one block more than the one that has the transfer. */
const CONFIRMING_BLOCKS = 2;
/** Of one seed: three orders in two parts each. */
const MOST_PAYMENTS = 6;
const seeds = lyingSeeds(10, 2_001);

onEachBitcoinNode('one of two Bitcoin nodes lies', (name) => {
  let bitcoin: BitcoinStack;
  let nodes: LyingNode[];
  let chain: LyingChain;

  beforeAll(async () => {
    nodes = [];
    bitcoin = await startBitcoinStack(name, async (node) => {
      nodes.push(await startLyingNode(node), await startLyingNode(node));
      return { CHAIN_URLS: JSON.stringify({ [BITCOIN_NETWORK]: nodes.map(({ url }) => url) }) };
    });
    const { desk, wallet, node } = bitcoin;
    await wallet.fund(node.call, seeds.length * MOST_PAYMENTS);
    const send = async (address: string, units: bigint) => {
      const { txid } = await wallet.pay(node.call, [{ address, units }]);
      return { txHash: txid, units };
    };
    chain = {
      stack: bitcoin.stack,
      network: BITCOIN_NETWORK,
      nodes,
      lies: BITCOIN_LIES,
      height: () => node.call<number>('getblockcount'),
      open: async (random) => {
        const { order, deposit } = await bitcoin.order();
        const { address } = deposit;
        const due = BigInt(deposit.amount_units);
        const half = due / 2n;
        const plan = random.pick(['exact', 'parts', 'over', 'short'] as const);
        return async () => {
          const amounts = { exact: [due], parts: [half, due - half], over: [due + half], short: [half] }[plan];
          const sent = [];
          for (const units of amounts) sent.push(await send(address, units));
          await bitcoin.mine();
          return { order, address, status: plan === 'short' ? 'partially_paid' : 'paid', sent };
        };
      },
      confirm: async () => void (await bitcoin.mine(CONFIRMING_BLOCKS)),
      received: async () => null,
      order: (id) => desk.shop.api.order(id),
    };
  }, SLOW);
  afterAll(async () => {
    await bitcoin?.stop();
    await Promise.all((nodes ?? []).map(({ close }) => close()));
  }, SLOW);

  testSeeds(seeds, () => chain);
});
