import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import { ChainNodeError } from '../chain-source.ts';
import { checkedAnswer, listOf, requireMatch, RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import { Address, type EvmBlock, Header, Quantity } from './block.ts';

/** The native coin moved to an address by a call inside a transaction. */
interface InternalCall {
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
}

/** The successful calls inside each transaction of a block that move the native coin, by transaction hash and in the
 *  order of execution. Both kinds of traces count the same calls, so their positions are the same. */
export type TransactionCalls = ReadonlyMap<string, readonly InternalCall[]>;

export type FetchInternalCalls = (node: RpcNode, block: EvmBlock) => Promise<TransactionCalls>;

const TRANSACTIONS_PER_TURN = 20;

// Source of the frames: go-ethereum, "Built-in tracers", callTracer. The frames of one transaction nest up to 1,024
// levels deep, so they are checked and walked without recursion.
const Frame = z.object({
  type: z.string(),
  from: Address.nullish(),
  to: Address.nullish(),
  value: Quantity.nullish(),
  error: z.string().nullish(),
  calls: z.array(z.unknown()).nullish(),
});

const CallTraces = listOf(
  z.object({ txHash: z.string().optional(), result: z.unknown().optional(), error: z.string().optional() }),
);

// The other kinds of calls move nothing, although some name a value.
const MOVING_TYPES = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'];

/** By `debug_traceBlockByHash`: geth, Erigon, Nethermind, Besu, Reth, anvil. */
export const callsByCallTracer: FetchInternalCalls = async (node, { header, transactions }) => {
  const method = 'debug_traceBlockByHash';
  const answer = await node.call(method, [header.hash, { tracer: 'callTracer' }]);
  const traces = checkedAnswer(node, method, CallTraces, answer);
  requireMatch(traces.length === transactions.length, node, method, 'has not one trace for each transaction');
  if (traces.some(({ result, error }) => result === undefined && error !== undefined))
    throw new ChainNodeError('refused', `node ${node.number}, ${method}: has no traces of block ${header.hash}`);
  const calls = new Map<string, InternalCall[]>();
  for (const [index, { txHash, result }] of traces.entries()) {
    const { hash } = transactions[index]!;
    requireMatch(txHash === undefined || txHash === hash, node, method, 'contains traces out of order');
    calls.set(hash, movingCalls(node, method, result));
    if (index % TRANSACTIONS_PER_TURN === 0) await yieldToEventLoop();
  }
  return calls;
};

/** Tries one kind of traces after the other: of old blocks, a node may have only the second. */
const callsByEither =
  (first: FetchInternalCalls, second: FetchInternalCalls): FetchInternalCalls =>
  async (node, block) => {
    try {
      return await first(node, block);
    } catch (error) {
      if (!isLacking(error)) throw error;
      return second(node, block);
    }
  };

/** Whether a node does not have a method. A rate limit or an unknown error does not say so: the node is asked again,
 *  because without traces, coins that contracts pay stay unseen. */
const lacksMethod = (error: unknown): boolean =>
  error instanceof RpcError ? error.kind === 'no_method' : error instanceof ChainNodeError && error.fault === 'refused';

/** Whether a node has no traces of a block. */
export const isLacking = (error: unknown): boolean =>
  lacksMethod(error) || (error instanceof RpcError && error.kind === 'no_state');

const movingCalls = (node: RpcNode, method: string, root: unknown): InternalCall[] => {
  const moving: InternalCall[] = [];
  const waiting = [{ frame: root, isRoot: true }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { type, from, to, value, error, calls } = checkedAnswer(node, method, Frame, next.frame);
    if (error) continue; // the whole frame was reverted
    if (!next.isRoot && MOVING_TYPES.includes(type) && value && to) moving.push({ from: from ?? '', to, value });
    for (let at = (calls?.length ?? 0) - 1; at >= 0; at -= 1) waiting.push({ frame: calls![at], isRoot: false });
  }
  return moving;
};

/** One call in the list of `trace_block`. Source: OpenEthereum, "JSONRPC trace module". */
type Trace = z.infer<typeof Trace>;
const Trace = z.object({
  type: z.string(),
  action: z.object({
    callType: z.string().optional(),
    from: Address.optional(),
    to: Address.optional(),
    value: Quantity.optional(),
    /** The contract that ended, and where its coins went. */
    address: Address.optional(),
    refundAddress: Address.optional(),
    balance: Quantity.optional(),
  }),
  /** With the address of a new contract. */
  result: z.object({ address: Address.optional() }).nullish(),
  error: z.string().optional(),
  traceAddress: listOf(z.int()),
  transactionHash: z.string().nullish(),
  blockHash: z.string(),
});

/** By `trace_block`: Erigon, Nethermind, Besu, Reth, anvil. */
export const callsByTraceBlock: FetchInternalCalls = async (node, { header, transactions }) => {
  const method = 'trace_block';
  const answer = await node.call(method, [`0x${header.number.toString(16)}`]);
  const traces = checkedAnswer(node, method, listOf(Trace), answer);
  const byHash = new Map<string, Trace[]>(transactions.map(({ hash }) => [hash, []]));
  for (const trace of traces) {
    requireMatch(trace.blockHash === header.hash, node, method, 'contains traces of another block');
    if (trace.type !== 'reward') byHash.get(trace.transactionHash ?? '')?.push(trace);
  }
  const hasAll = [...byHash.values()].every((ofTransaction) => ofTransaction.length > 0);
  requireMatch(hasAll, node, method, 'has no trace of a transaction');
  return new Map([...byHash].map(([hash, ofTransaction]) => [hash, movingTraces(ofTransaction)]));
};

const movingTraces = (traces: readonly Trace[]): InternalCall[] => {
  const reverted: string[] = [];
  return traces.flatMap((trace) => {
    const path = trace.traceAddress.map((position) => `${position}.`).join('');
    if (trace.error !== undefined) reverted.push(path);
    if (path === '' || reverted.some((other) => path.startsWith(other))) return [];
    const { from = '', to, value } = movementOf(trace);
    return to !== undefined && value ? [{ from, to, value }] : [];
  });
};

const movementOf = ({
  type,
  action,
  result,
}: Trace): { [name in keyof InternalCall]?: InternalCall[name] | undefined } => {
  if (type === 'suicide') return { from: action.address, to: action.refundAddress, value: action.balance };
  if (type === 'create') return { from: action.from, to: result?.address, value: action.value };
  return action.callType === 'call' ? { from: action.from, to: action.to, value: action.value } : {};
};

/** Methods that not every node has. */
export interface Abilities {
  readonly blockReceipts: boolean;
  /** Null without traces. */
  readonly internalCalls: FetchInternalCalls | null;
}

const LACKING_MS = 600_000;

/** Finds out what each node can do, by asking about its newest block. A node that lacks something is asked again after
 *  ten minutes, because a provider refuses for a while what exceeds its limits. */
export const abilitiesOf = (nowMs: () => number): ((node: RpcNode) => Promise<Abilities>) => {
  const known = new Map<RpcNode, { abilities: Abilities; untilMs: number }>();
  return async (node) => {
    const found = known.get(node);
    if (found && nowMs() < found.untilMs) return found.abilities;
    const abilities = await probe(node);
    const isComplete = abilities.blockReceipts && abilities.internalCalls !== null;
    known.set(node, { abilities, untilMs: isComplete ? Infinity : nowMs() + LACKING_MS });
    return abilities;
  };
};

const probe = async (node: RpcNode): Promise<Abilities> => {
  const method = 'eth_getBlockByNumber';
  const { hash, number } = checkedAnswer(node, method, Header, await node.call(method, ['latest', false]));
  const has = async (asked: string, ...params: unknown[]): Promise<boolean> => {
    try {
      return Array.isArray(await node.call(asked, params));
    } catch (error) {
      if (lacksMethod(error)) return false;
      throw error;
    }
  };
  const blockReceipts = await has('eth_getBlockReceipts', hash);
  const hasCallTracer = await has('debug_traceBlockByHash', hash, { tracer: 'callTracer' });
  const hasTraces = await has('trace_block', `0x${number.toString(16)}`);
  if (hasCallTracer && hasTraces)
    return { blockReceipts, internalCalls: callsByEither(callsByCallTracer, callsByTraceBlock) };
  if (hasCallTracer) return { blockReceipts, internalCalls: callsByCallTracer };
  return { blockReceipts, internalCalls: hasTraces ? callsByTraceBlock : null };
};
