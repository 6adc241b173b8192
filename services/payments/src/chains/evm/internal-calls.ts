import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ChainNodeError } from '../chain-source.ts';
import { RpcError, type RpcNode } from '../json-rpc.ts';
import { checkedAnswer, requireMatch } from './answers.ts';
import type { EvmBlock } from './block.ts';
import {
  addressIn,
  fieldsIn,
  InvalidValue,
  itemsIn,
  listOf,
  nullish,
  optional,
  quantityTextIn,
  type Read,
  textIn,
} from './fields.ts';

/** The native coin moved to an address by a call inside a transaction. */
export interface InternalCall {
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
const readFrame = (answer: unknown) => {
  const { type, from, to, value, error, calls } = fieldsIn(answer);
  return {
    type: textIn(type, 'type'),
    from: nullish(addressIn, from, 'from'),
    to: nullish(addressIn, to, 'to'),
    value: nullish(quantityTextIn, value, 'value'),
    error: nullish(textIn, error, 'error'),
    calls: nullish(itemsIn, calls, 'calls'),
  };
};

const readCallTrace = (answer: unknown) => {
  const { txHash, result, error } = fieldsIn(answer);
  return { txHash: optional(textIn, txHash, 'txHash'), result, error: optional(textIn, error, 'error') };
};

// The other kinds of calls move nothing, although some name a value.
const MOVING_TYPES = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'];

/** By `debug_traceBlockByHash`: geth, Erigon, Nethermind, Besu, Reth, anvil. */
export const callsByCallTracer: FetchInternalCalls = async (node, { header, transactions }) => {
  const method = 'debug_traceBlockByHash';
  const answer = await node.call(method, [header.hash, { tracer: 'callTracer' }]);
  const traces = checkedAnswer(node, method, listOf(readCallTrace), answer);
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
export const callsByEither =
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
export const lacksMethod = (error: unknown): boolean =>
  error instanceof RpcError ? error.kind === 'no_method' : error instanceof ChainNodeError && error.fault === 'refused';

/** Whether a node has no traces of a block. */
export const isLacking = (error: unknown): boolean =>
  lacksMethod(error) || (error instanceof RpcError && error.kind === 'no_state');

const movingCalls = (node: RpcNode, method: string, root: unknown): InternalCall[] => {
  const moving: InternalCall[] = [];
  const waiting = [{ frame: root, isRoot: true }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { type, from, to, value, error, calls } = checkedAnswer(node, method, readFrame, next.frame);
    if (error) continue; // the whole frame was reverted
    if (!next.isRoot && MOVING_TYPES.includes(type) && value && to) {
      const units = BigInt(value);
      if (units > 0n) moving.push({ from: from ?? '', to, value: units });
    }
    for (let at = (calls?.length ?? 0) - 1; at >= 0; at -= 1) waiting.push({ frame: calls![at], isRoot: false });
  }
  return moving;
};

/** One call in the list of `trace_block`. Source: OpenEthereum, "JSONRPC trace module". */
interface Trace {
  readonly type: string;
  readonly action: {
    readonly callType: string | undefined;
    readonly from: string | undefined;
    readonly to: string | undefined;
    /** Hex text. */
    readonly value: string | undefined;
    /** The contract that ended, and where its coins went. */
    readonly address: string | undefined;
    readonly refundAddress: string | undefined;
    /** Hex text. */
    readonly balance: string | undefined;
  };
  /** The address of a new contract. */
  readonly created: string | undefined;
  readonly error: string | undefined;
  readonly traceAddress: readonly number[];
  readonly transactionHash: string | null | undefined;
  readonly blockHash: string;
}

const createdIn: Read<string | undefined> = (result, path = '') =>
  optional(addressIn, fieldsIn(result, path).address, `${path}.address`);
const positionsIn = listOf((position) => {
  if (!Number.isSafeInteger(position)) throw new InvalidValue('');
  return position as number;
});

const readTrace: Read<Trace> = (answer) => {
  const trace = fieldsIn(answer);
  const type = textIn(trace.type, 'type');
  const action = fieldsIn(trace.action, 'action');
  return {
    type,
    action: {
      callType: optional(textIn, action.callType, 'action.callType'),
      from: optional(addressIn, action.from, 'action.from'),
      to: optional(addressIn, action.to, 'action.to'),
      value: optional(quantityTextIn, action.value, 'action.value'),
      address: optional(addressIn, action.address, 'action.address'),
      refundAddress: optional(addressIn, action.refundAddress, 'action.refundAddress'),
      balance: optional(quantityTextIn, action.balance, 'action.balance'),
    },
    created: nullish(createdIn, trace.result, 'result') ?? undefined,
    error: optional(textIn, trace.error, 'error'),
    traceAddress: positionsIn(trace.traceAddress, 'traceAddress'),
    transactionHash: nullish(textIn, trace.transactionHash, 'transactionHash'),
    blockHash: textIn(trace.blockHash, 'blockHash'),
  };
};

/** By `trace_block`: Erigon, Nethermind, Besu, Reth, anvil. */
export const callsByTraceBlock: FetchInternalCalls = async (node, { header, transactions }) => {
  const method = 'trace_block';
  const answer = await node.call(method, [`0x${header.number.toString(16)}`]);
  const traces = checkedAnswer(node, method, listOf(readTrace), answer);
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
    const units = BigInt(value ?? 0);
    return to !== undefined && units > 0n ? [{ from, to, value: units }] : [];
  });
};

interface Movement {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly value?: string | undefined;
}

const movementOf = ({ type, action, created }: Trace): Movement => {
  if (type === 'suicide') return { from: action.address, to: action.refundAddress, value: action.balance };
  if (type === 'create') return { from: action.from, to: created, value: action.value };
  return action.callType === 'call' ? { from: action.from, to: action.to, value: action.value } : {};
};
