import { type BlockRef, ChainNodeError, type NodeFault, WrongChainError } from '../chain-source.ts';
import { RpcError, type RpcNode, rpcNode, type RpcNodeOptions } from './json-rpc.ts';

export interface NodesOptions extends Pick<RpcNodeOptions, 'timeoutMs' | 'maxBytes' | 'busyWaitsMs'> {
  readonly urls: readonly string[];
  /** Called for each failed question to a node, and for each node of a disagreement, for logs and metrics. */
  readonly onFault?: (fault: NodeFault, node: number, error: Error) => void;
  /** Called for each block of which the hash proves a part not, because the form of the chain is unknown. */
  readonly onUnproven?: (block: BlockRef, part: string) => void;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  /** The clock that the times of blocks are compared with. */
  readonly now?: () => Date;
}

/** The answer of one node. */
export interface NodeAnswer<T> {
  readonly node: RpcNode;
  readonly answer: T;
}

/** The nodes of one network. Only nodes that passed `check` are asked. */
export interface Nodes {
  /** The first usable answer, and the node that gave it. Null if nodes answered null: they do not know it. Nodes with
   *  the numbers `not` are asked last. */
  readonly first: <T>(
    ask: (node: RpcNode) => Promise<T | null>,
    not?: readonly number[],
  ) => Promise<NodeAnswer<T> | null>;
  /** The answers of all nodes in use that give one; at least one. `except` is not asked, and then there may be none. */
  readonly all: <T>(ask: (node: RpcNode) => Promise<T>, except?: RpcNode) => Promise<T[]>;
  /** Like `all`, with the node of each answer. With `evenUnused`, also those of nodes that are not in use. */
  readonly each: <T>(
    ask: (node: RpcNode) => Promise<T>,
    options?: { readonly except?: RpcNode; readonly evenUnused?: boolean },
  ) => Promise<NodeAnswer<T>[]>;
  /** From now on, only these nodes are in use; the others are asked where these give no answer. */
  readonly use: (used: readonly RpcNode[]) => void;
  /** Counts a fault of one node. */
  readonly fault: (node: RpcNode, fault: NodeFault, why: string) => void;
  /** Counts a fault for each node that differs from most others, or for all of them. Returns the error to throw, which
   *  names who says what. */
  readonly disagreement: (on: string, answers: readonly NodeAnswer<string | null>[]) => ChainNodeError;
  readonly close: () => Promise<void>;
}

const FIRST_PAUSE_MS = 10_000;
const FIRST_BUSY_PAUSE_MS = 1_000;
/** Another node can take the place of one without an outage, for example behind a load balancer. */
const CHECK_AGAIN_AFTER_MS = 60_000;
const LONGEST_PAUSE_MS = 300_000;

interface Pause {
  readonly untilMs: number;
  readonly pauseMs: number;
  /** The error of a busy node; null for any other node. */
  readonly busy: ChainNodeError | null;
}

/** `check` throws WrongChainError if a node serves another chain. It runs before the first question
 *  to a node, again after the node was unreachable, and once a minute. */
export const openNodes = (
  { urls, onFault = () => {}, onUnproven: _, nowMs = () => performance.now(), now: __, ...limits }: NodesOptions,
  check: (node: RpcNode) => Promise<void>,
): Nodes => {
  const nodes = urls.map((url, index) => rpcNode({ url, number: index + 1, ...limits }));
  const checks = nodeChecks(check, nowMs);
  const pauses = nodePauses(nowMs);
  const askOne = asker({ checks, pauses, onFault });
  let unused = new Set<RpcNode>();

  const awake = () => nodes.filter((node) => !pauses.isPaused(node));
  /** Nodes that failed a moment ago come last, and those that are not in use before them. */
  const inOrder = () => {
    const ranks = new Map(nodes.map((node) => [node, pauses.isPaused(node) ? 2 : Number(unused.has(node))]));
    return nodes.toSorted((one, other) => ranks.get(one)! - ranks.get(other)!);
  };
  const toAsk = (evenUnused: boolean): readonly RpcNode[] => {
    const used = awake().filter((node) => evenUnused || !unused.has(node));
    return [used, awake(), nodes].find((some) => some.length > 0)!;
  };

  const each: Nodes['each'] = async (ask, { except, evenUnused = false } = {}) => {
    const asked = toAsk(evenUnused).filter((node) => node !== except);
    const results = await Promise.allSettled(asked.map((node) => askOne(node, ask)));
    const failures = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as unknown);
    const foreign = failures.find((reason) => !(reason instanceof ChainNodeError));
    if (foreign !== undefined) throw foreign as Error;
    const answers = results.flatMap((result, at) =>
      result.status === 'fulfilled' ? [{ node: asked[at]!, answer: result.value }] : [],
    );
    if (answers.length === 0 && !except) throw worstOf(failures as ChainNodeError[]);
    return answers;
  };

  return {
    each,
    all: async (ask, except) => (await each(ask, { ...(except && { except }) })).map(({ answer }) => answer),
    first: async (ask, not = []) => {
      let isUnknown = false;
      const failures: ChainNodeError[] = [];
      const isLast = ({ number }: RpcNode) => Number(not.includes(number));
      for (const node of inOrder().toSorted((one, other) => isLast(one) - isLast(other))) {
        try {
          const answer = await askOne(node, ask);
          if (answer !== null) return { node, answer };
          isUnknown = true;
        } catch (error) {
          if (!(error instanceof ChainNodeError)) throw error;
          failures.push(error);
        }
      }
      if (isUnknown) return null;
      throw worstOf(failures);
    },
    use: (used) => void (unused = new Set(nodes.filter((node) => !used.includes(node)))),
    fault: (node, fault, why) => onFault(fault, node.number, new ChainNodeError(fault, `node ${node.number} ${why}`)),
    disagreement: (on, answers) => {
      const { error, faulty } = disagreementOf(on, answers);
      for (const number of faulty) onFault(error.fault, number, error);
      return error;
    },
    close: async () => void (await Promise.all(nodes.map((node) => node.close()))),
  };
};

/** Asks one node. Every fault of the node becomes a ChainNodeError. */
const asker =
  ({
    checks,
    pauses,
    onFault,
  }: {
    readonly checks: ReturnType<typeof nodeChecks>;
    readonly pauses: ReturnType<typeof nodePauses>;
    readonly onFault: NonNullable<NodesOptions['onFault']>;
  }) =>
  async <T>(node: RpcNode, ask: (node: RpcNode) => Promise<T>): Promise<T> => {
    const busy = pauses.busyOf(node);
    if (busy) throw busy;
    try {
      await checks.require(node);
      const answer = await ask(node);
      pauses.end(node);
      return answer;
    } catch (thrown) {
      const error = asNodeError(thrown);
      if (!(error instanceof ChainNodeError)) throw error;
      if (UNAVAILABLE.includes(error.fault)) {
        if (error.fault !== 'busy') checks.forget(node);
        // Questions that failed together are one failure.
        if (!pauses.isPaused(node)) pauses.begin(node, error);
      }
      onFault(error.fault, node.number, error);
      throw error;
    }
  };

/** The faults after which a node is left alone for a while. */
const UNAVAILABLE: readonly NodeFault[] = ['unreachable', 'timeout', 'busy', 'wrong_chain'];

/** A node of another chain is a fault of this node, as long as another one serves the right chain. */
const asNodeError = (thrown: unknown): unknown => {
  if (thrown instanceof RpcError) return new ChainNodeError('refused', thrown.message);
  if (thrown instanceof WrongChainError) return new ChainNodeError('wrong_chain', thrown.message, { cause: thrown });
  return thrown;
};

/** No node answers: another chain explains that better than any other fault. */
const worstOf = (failures: readonly ChainNodeError[]): Error => {
  const foreign = failures.find(({ fault }) => fault === 'wrong_chain');
  return foreign ? (foreign.cause as WrongChainError) : failures[0]!;
};

/** Runs `check` before the first question to a node, and again once a minute. */
const nodeChecks = (check: (node: RpcNode) => Promise<void>, nowMs: () => number) => {
  const checks = new Map<RpcNode, { readonly startedMs: number; readonly passed: Promise<void> }>();
  const start = (node: RpcNode) => {
    const started = { startedMs: nowMs(), passed: check(node) };
    checks.set(node, started);
    return started;
  };
  const forget = (node: RpcNode): void => void checks.delete(node);
  return {
    forget,
    require: async (node: RpcNode): Promise<void> => {
      const last = checks.get(node);
      const isRecent = last !== undefined && nowMs() - last.startedMs < CHECK_AGAIN_AFTER_MS;
      const { passed } = isRecent ? last : start(node);
      try {
        await passed;
      } catch (error) {
        forget(node);
        throw error;
      }
    },
  };
};

/** The nodes that failed a moment ago. Each further failure doubles the pause of a node, because every question to a
 *  silent one waits for its timeout. */
const nodePauses = (nowMs: () => number) => {
  const pauses = new Map<RpcNode, Pause>();
  const isPaused = (node: RpcNode): boolean => (pauses.get(node)?.untilMs ?? -Infinity) > nowMs();
  return {
    isPaused,
    /** The error of a busy node while it is paused: the node is not asked. Null for any other node. */
    busyOf: (node: RpcNode): ChainNodeError | null => (isPaused(node) ? pauses.get(node)!.busy : null),
    begin: (node: RpcNode, error: ChainNodeError): void => {
      const isBusy = error.fault === 'busy';
      const lastMs = pauses.get(node)?.pauseMs ?? 0;
      const firstMs = isBusy ? FIRST_BUSY_PAUSE_MS : FIRST_PAUSE_MS;
      const pauseMs = Math.min(Math.max(lastMs * 2, firstMs), LONGEST_PAUSE_MS);
      const untilMs = nowMs() + Math.max(pauseMs, error.retryAfterMs ?? 0);
      pauses.set(node, { untilMs, pauseMs, busy: isBusy ? error : null });
    },
    end: (node: RpcNode): void => void pauses.delete(node),
  };
};

interface Side {
  readonly answer: string | null;
  readonly numbers: readonly number[];
}

const sidesOf = (answers: readonly NodeAnswer<string | null>[]): Side[] =>
  [...new Set(answers.map(({ answer }) => answer))].map((answer) => ({
    answer,
    numbers: answers.filter((each) => each.answer === answer).map(({ node }) => node.number),
  }));

/** The error with the answer of each side, and the nodes outside the majority: all nodes if there is none. */
const disagreementOf = (
  on: string,
  answers: readonly NodeAnswer<string | null>[],
): { readonly error: ChainNodeError; readonly faulty: readonly number[] } => {
  const sides = sidesOf(answers);
  const said = sides.map(
    ({ answer, numbers }) => `${namesOf(numbers)} ${numbers.length > 1 ? 'say' : 'says'} ${answer ?? 'nothing'}`,
  );
  const most = sides.find(({ numbers }) => numbers.length * 2 > answers.length);
  return {
    error: new ChainNodeError('disagreement', `the nodes differ on ${on}: ${said.join(', ')}`),
    faulty: sides.filter((side) => side !== most).flatMap(({ numbers }) => numbers),
  };
};

/** For example `nodes 1 and 3`. */
const namesOf = (numbers: readonly number[]): string =>
  numbers.length === 1 ? `node ${numbers[0]}` : `nodes ${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`;
