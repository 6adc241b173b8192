import { createHash } from 'node:crypto';
import {
  callData,
  type ChainNode,
  deployForwarder,
  deployTestTokens,
  evmAssetOf,
  hexOf,
  mineBlocks,
  pay,
  setClock,
  startAnvil,
} from '@cpg/local-chain';
import type { Random } from '../harness/random.ts';
import { LOCAL_NETWORK } from '../harness/chains.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';
import {
  delaying,
  type Lie,
  type LyingChain,
  type LyingNode,
  lyingSeeds,
  type NodeAnswer,
  type Question,
  rpcError,
  type Sale,
  SLOW,
  sometimes,
  startLyingNode,
  testSeeds,
} from './lying-nodes.ts';

type Fields = Record<string, unknown>;

/** Kinds of lies of an EVM node. Each is made at a height, from a source of random numbers. */
const EVM_LIES: Readonly<Record<string, (random: Random, height: number) => Lie>> = {
  'leaves out logs and calls': (random) => sometimes(0.7, random.next, leavingOut),
  'leaves out all that is new': (_random, height) => leavingOutAbove(height),
  'multiplies amounts': () => multiplying,
  'answers late': (random) => delaying(300, random.next),
  freezes: (_random, height) => frozenAt(height),
  'limits the rate': (random) =>
    sometimes(0.7, random.next, () =>
      random.pick<NodeAnswer>([
        rpcError(-32_005, 'daily request count exceeded, request rate limited'),
        { status: 429, retryAfterSeconds: 1 },
        { status: 429 },
      ]),
    ),
  forks: (_random, height) => forkedAbove(height),
  'answers stale': (random) => sometimes(0.6, random.next, stale()),
};

/** Changes the result of some methods, and leaves errors and nulls. */
const changing =
  (changes: Readonly<Record<string, (result: never, question: Question) => unknown>>): Lie =>
  (question, honest) => {
    const change = changes[question.method];
    if (!change || !('result' in honest) || honest.result === null) return honest;
    const result = change(honest.result as never, question);
    return JSON.stringify(result) === JSON.stringify(honest.result) ? honest : { result };
  };

// Only calls that carry money: to leave out others is no lie that anybody could notice.
const movesMoney = ({ value = '0x0' }: { value?: string }) => BigInt(value) > 0n;
const withoutCalls = (traces: { result: Fields & { calls?: { value?: string }[] } }[]) =>
  traces.map((trace) => {
    const { result } = trace;
    // An answer counts as honest when it is the same text.
    return result.calls?.some(movesMoney)
      ? { ...trace, result: { ...result, calls: result.calls.filter((call) => !movesMoney(call)) } }
      : trace;
  });
const withoutInner = (traces: { traceAddress: unknown[]; action: { value?: string } }[]) =>
  traces.filter(({ traceAddress, action }) => traceAddress.length === 0 || !movesMoney(action));

const leavingOut: Lie = changing({
  eth_getBlockReceipts: (receipts: Fields[]) => receipts.map((receipt) => ({ ...receipt, logs: [] })),
  eth_getTransactionReceipt: (receipt: Fields) => ({ ...receipt, logs: [] }),
  eth_getLogs: () => [],
  debug_traceBlockByHash: withoutCalls,
  trace_block: withoutInner,
});

/** Empty answers about each block above a height, as a load balancer with a node that is behind gives. */
const leavingOutAbove = (height: number): Lie => {
  const isAbove = ({ blockNumber }: { blockNumber?: unknown }) => Number(blockNumber) > height;
  return changing({
    eth_getBlockReceipts: (receipts: { blockNumber: string }[]) => (receipts.some(isAbove) ? null : receipts),
    eth_getLogs: (logs: { blockNumber: string }[]) => logs.filter((log) => !isAbove(log)),
    debug_traceBlockByHash: withoutCalls,
    trace_block: withoutInner,
  });
};

const times1000 = (value: unknown) => (typeof value === 'string' ? hexOf(BigInt(value) * 1_000n) : value);
const paddedTimes1000 = (data: unknown) =>
  typeof data === 'string' && data.length === 66
    ? `0x${(BigInt(data) * 1_000n).toString(16).padStart(64, '0').slice(-64)}`
    : data;
const largerLogs = (receipt: Fields) => ({
  ...receipt,
  logs: (receipt.logs as Fields[]).map((log) => ({ ...log, data: paddedTimes1000(log.data) })),
});
const largerCalls = (frame: Fields): Fields => ({
  ...frame,
  value: times1000(frame.value),
  calls: ((frame.calls as Fields[] | undefined) ?? []).map(largerCalls),
});

const multiplying: Lie = changing({
  eth_getBlockReceipts: (receipts: Fields[]) => receipts.map(largerLogs),
  eth_getTransactionReceipt: largerLogs,
  eth_getLogs: (logs: Fields[]) => logs.map((log) => ({ ...log, data: paddedTimes1000(log.data) })),
  eth_getBlockByHash: (block: Fields, { params: [, isFull] }) =>
    isFull === true
      ? {
          ...block,
          transactions: (block.transactions as Fields[]).map((each) => ({ ...each, value: times1000(each.value) })),
        }
      : block,
  debug_traceBlockByHash: (traces: { result: Fields }[]) =>
    traces.map((trace) => ({ ...trace, result: largerCalls(trace.result) })),
  trace_block: (traces: { action: Fields }[]) =>
    traces.map((trace) => ({ ...trace, action: { ...trace.action, value: times1000(trace.action.value) } })),
});

/** Knows no block above a height. */
const frozenAt = (height: number): Lie => {
  const isLater = (number: unknown) => typeof number === 'string' && Number(number) > height;
  const shorter = changing({
    eth_blockNumber: (number: string) => (isLater(number) ? hexOf(BigInt(height)) : number),
    eth_getBlockByNumber: (block: Fields) => (isLater(block.number) ? null : block),
    eth_getBlockByHash: (block: Fields) => (isLater(block.number) ? null : block),
  });
  return async (question, honest, ask) => {
    const told = await shorter(question, honest, ask);
    const { method, params } = question;
    const isTip = method === 'eth_getBlockByNumber' && params[0] === 'latest' && told !== honest;
    return isTip ? ask(method, hexOf(BigInt(height)), params[1]) : told;
  };
};

const HASHES = /0x[0-9a-f]{64}/;

/** Shows other, empty blocks above a height: a branch of its own. */
const forkedAbove = (height: number): Lie => {
  const own = new Map<string, Fields>();
  const ownHash = (hash: string) => `0x${createHash('sha256').update(hash).digest('hex')}`;
  const forked = (block: Fields): Fields => {
    const number = Number(block.number);
    if (number <= height) return block;
    const hash = ownHash(String(block.hash));
    const parentHash = number === height + 1 ? block.parentHash : ownHash(String(block.parentHash));
    const other = { ...block, hash, parentHash, transactions: [] };
    own.set(hash, other);
    return other;
  };
  return (question, honest, ask) => {
    const [asked] = question.params;
    const known = typeof asked === 'string' && HASHES.test(asked) ? own.get(asked) : undefined;
    if (known) {
      if (question.method === 'eth_getBlockByHash') return { result: known };
      if (question.method === 'eth_getBlockReceipts' || question.method === 'debug_traceBlockByHash')
        return { result: [] };
    }
    const isOfBranch = typeof asked === 'object' && asked !== null && own.has(String((asked as Fields).blockHash));
    if (question.method === 'eth_getLogs' && isOfBranch) return { result: [] };
    return changing({
      eth_getBlockByNumber: forked,
      // The node does not know the blocks of the other branch.
      eth_getBlockByHash: (block: Fields) => (Number(block.number) > height ? null : block),
    })(question, honest, ask);
  };
};

/** Repeats its first answer to a question about the newest block. */
const stale = (): Lie => {
  const first = new Map<string, NodeAnswer>();
  return ({ method, params }, honest) => {
    const isAboutTip = method === 'eth_blockNumber' || (method === 'eth_getBlockByNumber' && params[0] === 'latest');
    if (!isAboutTip) return method === 'eth_getLogs' ? { result: [] } : honest;
    if (!first.has(method)) first.set(method, honest);
    const earlier = first.get(method)!;
    return JSON.stringify(earlier) === JSON.stringify(honest) ? honest : earlier;
  };
};

const CONFIRMATIONS = 2;

/** Sends an amount in one or several transfers. Resolves to the transfers. */
type Send = (units: bigint) => Promise<Sale['sent']>;

describe.each([
  { title: 'one of two EVM nodes lies', count: 2, seeds: lyingSeeds(16) },
  { title: 'the only EVM node lies for a while', count: 1, seeds: lyingSeeds(8, 1_001) },
])('$title', ({ count, seeds }) => {
  onEvm('with each seed', () => {
    let anvil: ChainNode;
    let evm: EvmStack;
    let nodes: LyingNode[];
    let chain: LyingChain;

    beforeAll(async () => {
      anvil = await startAnvil();
      await setClock(anvil.call);
      await deployTestTokens(anvil.call);
      const forwarder = await deployForwarder(anvil.call);
      nodes = await Promise.all(Array.from({ length: count }, () => startLyingNode(anvil)));
      evm = await startEvmStack(CONFIRMATIONS, { nodeUrls: nodes.map(({ url }) => url) });
      const { call } = anvil;

      const open: LyingChain['open'] = async (random) => {
        const { order, deposit } = await evm.desk.order({ payment_currency: random.pick(['USDT', 'USDC', 'ETH']) });
        const { address } = deposit;
        const asset = evmAssetOf(deposit.asset);
        const direct: Send = async (units) => [
          { txHash: (await pay(call, asset, address, units)).transactionHash, units },
        ];
        const byContract: Send = async (units) => {
          if (asset === 'native') return [{ txHash: (await forwarder.forward(address, units)).transactionHash, units }];
          await pay(call, asset, forwarder.address, units);
          const first = units / 3n;
          const { transactionHash: txHash } = await forwarder.sendTwice(asset.contract, address, first, units - first);
          return [first, units - first].map((part) => ({ txHash, units: part }));
        };
        const due = BigInt(deposit.amount_units);
        const plan = random.pick(['exact', 'parts', 'over', 'short'] as const);
        const [send, another] = [random.pick([direct, byContract]), random.pick([direct, byContract])];
        const half = due / 2n;
        return async () => {
          const sent = {
            exact: () => send(due),
            parts: async () => [...(await send(half)), ...(await another(due - half))],
            over: () => send(due + half),
            short: () => send(half),
          };
          const status = plan === 'short' ? 'partially_paid' : 'paid';
          return { order, address, status, sent: await sent[plan]() };
        };
      };
      const balanceOf = async ({ order, address }: Sale) => {
        const { asset } = order.deposit_instructions.find((each) => 'asset' in each) as { asset: string };
        const on = evmAssetOf(asset);
        if (on === 'native') return BigInt(await call<string>('eth_getBalance', address, 'latest'));
        const data = callData('TestToken', 'balanceOf(address)', { address });
        return BigInt(await call<string>('eth_call', { to: on.contract, data }, 'latest'));
      };
      chain = {
        stack: evm.stack,
        network: LOCAL_NETWORK,
        nodes,
        lies: EVM_LIES,
        height: async () => Number(await call('eth_blockNumber')),
        open,
        confirm: () => mineBlocks(call, CONFIRMATIONS),
        received: balanceOf,
        order: (id) => evm.desk.shop.api.order(id),
      };
    }, SLOW);
    afterAll(async () => {
      await evm?.stop();
      await Promise.all((nodes ?? []).map(({ close }) => close()));
      await anvil?.stop();
    }, SLOW);

    testSeeds(seeds, () => chain);
  });
});
