import { type BlockRef, ChainNodeError, type NodeFault } from './chain-source.ts';
import { RpcError, type RpcNode, rpcNode, type RpcNodeOptions } from './json-rpc.ts';

export interface NodesOptions extends Pick<RpcNodeOptions, 'timeoutMs' | 'maxBytes'> {
  readonly urls: readonly string[];
  /** Called for each failed question to a node, and for each node of a disagreement, for logs and metrics. */
  readonly onFault?: (fault: NodeFault, node: number, error: Error) => void;
  /** Called for each block of which the hash proves a part not, because the form of the chain is unknown. */
  readonly onUnproven?: (block: BlockRef, part: string) => void;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
}

/** What one node answered. */
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
  /** The answers of all nodes that give one; at least one. `except` is not asked, and then there may be none. */
  readonly all: <T>(ask: (node: RpcNode) => Promise<T>, except?: RpcNode) => Promise<T[]>;
  /** Like `all`, with the node of each answer. */
  readonly each: <T>(
    ask: (node: RpcNode) => Promise<T>,
    options?: { readonly except?: RpcNode },
  ) => Promise<NodeAnswer<T>[]>;
  /** Counts a fault of one node. */
  readonly fault: (node: RpcNode, fault: NodeFault, why: string) => void;
  /** Counts a fault of each of some nodes that differ. Returns the error to throw, which names who says what. */
  readonly disagreement: (on: string, answers: readonly NodeAnswer<string | null>[]) => ChainNodeError;
  readonly close: () => Promise<void>;
}

const FIRST_PAUSE_MS = 10_000;
/** Another node can take the place of one without an outage, for example behind a load balancer. */
const CHECK_AGAIN_AFTER_MS = 60_000;
const LONGEST_PAUSE_MS = 300_000;

/** `check` throws WrongChainError if a node serves another chain. It runs before the first question
 *  to a node, again after the node was unreachable, and once a minute. */
export const openNodes = (
  { urls, onFault = () => {}, onUnproven: _, nowMs = () => performance.now(), ...limits }: NodesOptions,
  check: (node: RpcNode) => Promise<void>,
): Nodes => {
  const nodes = urls.map((url, index) => rpcNode({ url, number: index + 1, ...limits }));
  const checks = new Map<RpcNode, { readonly startedMs: number; readonly passed: Promise<void> }>();
  /** Each further failure doubles the pause, because every question to a silent node waits for its timeout. */
  const pauses = new Map<RpcNode, { untilMs: number; pauseMs: number }>();

  const requireChecked = async (node: RpcNode): Promise<void> => {
    const last = checks.get(node);
    const isRecent = last !== undefined && nowMs() - last.startedMs < CHECK_AGAIN_AFTER_MS;
    const { passed } = isRecent ? last : startCheck(node);
    try {
      await passed;
    } catch (error) {
      checks.delete(node);
      throw error;
    }
  };
  const startCheck = (node: RpcNode) => {
    const started = { startedMs: nowMs(), passed: check(node) };
    checks.set(node, started);
    return started;
  };

  /** Asks one node. Every fault of the node becomes a ChainNodeError. */
  const askOne = async <T>(node: RpcNode, ask: (node: RpcNode) => Promise<T>): Promise<T> => {
    try {
      await requireChecked(node);
      const answer = await ask(node);
      pauses.delete(node);
      return answer;
    } catch (thrown) {
      const error = thrown instanceof RpcError ? new ChainNodeError('refused', thrown.message) : thrown;
      if (!(error instanceof ChainNodeError)) throw error;
      if (error.fault === 'unreachable' || error.fault === 'timeout') {
        checks.delete(node);
        const pauseMs = Math.min((pauses.get(node)?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2, LONGEST_PAUSE_MS);
        pauses.set(node, { untilMs: nowMs() + pauseMs, pauseMs });
      }
      onFault(error.fault, node.number, error);
      throw error;
    }
  };

  /** Nodes that failed a moment ago come last. */
  const isPaused = (node: RpcNode) => (pauses.get(node)?.untilMs ?? -Infinity) > nowMs();
  const inOrder = () => [...nodes.filter((node) => !isPaused(node)), ...nodes.filter(isPaused)];

  const each: Nodes['each'] = async (ask, { except } = {}) => {
    const awake = nodes.filter((node) => !isPaused(node));
    const asked = (awake.length > 0 ? awake : nodes).filter((node) => node !== except);
    const results = await Promise.allSettled(asked.map((node) => askOne(node, ask)));
    const failures = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as unknown);
    const foreign = failures.find((reason) => !(reason instanceof ChainNodeError));
    if (foreign !== undefined) throw foreign as Error;
    const answers = results.flatMap((result, at) =>
      result.status === 'fulfilled' ? [{ node: asked[at]!, answer: result.value }] : [],
    );
    if (answers.length === 0 && !except) throw failures[0] as Error;
    return answers;
  };

  return {
    each,
    all: async (ask, except) => (await each(ask, { ...(except && { except }) })).map(({ answer }) => answer),
    first: async (ask, not = []) => {
      let isUnknown = false;
      let lastError: ChainNodeError | undefined;
      const isLast = ({ number }: RpcNode) => Number(not.includes(number));
      for (const node of inOrder().toSorted((one, other) => isLast(one) - isLast(other))) {
        try {
          const answer = await askOne(node, ask);
          if (answer !== null) return { node, answer };
          isUnknown = true;
        } catch (error) {
          if (!(error instanceof ChainNodeError)) throw error;
          lastError = error;
        }
      }
      if (isUnknown) return null;
      throw lastError!;
    },
    fault: (node, fault, why) => onFault(fault, node.number, new ChainNodeError(fault, `node ${node.number} ${why}`)),
    disagreement: (on, answers) => {
      const said = answers.map(({ node, answer }) => `node ${node.number} says ${answer ?? 'nothing'}`);
      const error = new ChainNodeError('disagreement', `the nodes differ on ${on}: ${said.join(', ')}`);
      for (const { node } of answers) onFault(error.fault, node.number, error);
      return error;
    },
    close: async () => void (await Promise.all(nodes.map((node) => node.close()))),
  };
};
