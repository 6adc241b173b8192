import { checkedAnswer } from '../nodes/answers.ts';
import type { RpcNode } from '../nodes/json-rpc.ts';
import { Header } from './answers.ts';
import {
  callsByCallTracer,
  callsByEither,
  callsByTraceBlock,
  type FetchInternalCalls,
  lacksMethod,
} from './internal-calls.ts';

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
