import { chainFacts } from '@cpg/assets';
import { wallClock } from '@cpg/platform';
import type { BlockRef, ChainTip, NodeView } from '../chain-source.ts';
import type { RpcNode } from './json-rpc.ts';
import type { NodeAnswer, Nodes } from './nodes.ts';

/** A block and its time. */
export interface Head extends BlockRef {
  readonly time: Date;
}

/** How one kind of chain asks a node for positions. */
export interface Positions {
  /** The newest block of the node. */
  readonly head: (node: RpcNode) => Promise<Head>;
  /** Null above the tip of the node. */
  readonly hashAt: (node: RpcNode, height: number) => Promise<string | null>;
}

// Nodes that follow different branches for a moment agree on an ancestor a few blocks below.
const DEEPEST_FORK = 6;
/** How long a node may lack a block that another one shows. Blocks reach all nodes within seconds. */
const HELD_BACK_MS = 180_000;
/** No chain whose blocks come at random takes so many times its average for one, save once in months. */
const LONGEST_GAP = 9;
/** Chains with a block each second make pauses, and clocks differ. */
const SHORTEST_BOUND_MS = 180_000;

/** From which age on the newest block of a node is too old: the node is frozen, behind or cut off. Null for a chain
 *  whose blocks come on demand, or at unknown intervals. */
export const staleAfterMs = (chainId: string): number | null => {
  const { secondsPerBlock } = chainFacts(chainId, chainId);
  return secondsPerBlock === null ? null : Math.max(SHORTEST_BOUND_MS, LONGEST_GAP * secondsPerBlock * 1_000);
};

/** By how much the time of a block may be ahead of the clock, by namespace of the chain (CAIP-2). Bitcoin: see
 *  `MAX_FUTURE_BLOCK_TIME` in Bitcoin Core's `chain.h`. EVM: nodes take no block of a later slot than their own. */
export const BLOCK_LEAD_MS: Readonly<Record<string, number>> = { bip122: 2 * 3_600_000, eip155: 15_000 };

/** How far the time of a new block may be behind and ahead of the clock; null for a chain whose blocks come on demand,
 *  or at unknown intervals. */
export const timesOfBlocks = (chainId: string): { readonly lagMs: number; readonly leadMs: number } | null => {
  const lagMs = staleAfterMs(chainId);
  return lagMs === null ? null : { lagMs, leadMs: BLOCK_LEAD_MS[chainId.split(':')[0]!]! };
};

interface AgreementOptions {
  /** See `staleAfterMs`. */
  readonly staleMs: number | null;
  readonly now?: (() => Date) | undefined;
  /** Monotonic clock. */
  readonly nowMs?: (() => number) | undefined;
}

/** Positions on which all nodes in use agree: those whose newest block is not too old, or all of them while none is
 *  current. Among them, one that is behind holds the others back, because only what it shows too is certain. So a node
 *  cannot win by being ahead, and a frozen one is left out once its newest block is too old. */
export const agreedPositions = (
  nodes: Nodes,
  { head, hashAt }: Positions,
  { staleMs, now = wallClock, nowMs = () => performance.now() }: AgreementOptions,
) => {
  const views = new Map<number, NodeView>();
  let stale = new Set<RpcNode>();
  let held: { readonly height: number; readonly since: Date; readonly sinceMs: number } | null = null;

  /** The hash of each node at a height, as far as their heads do not say it already. */
  const hashesAt = (at: number, heads: readonly NodeAnswer<Head>[] = []) =>
    nodes.each(async (node): Promise<string | null> => {
      const known = heads.find((each) => each.node === node)?.answer;
      return known?.height === at ? known.hash : hashAt(node, at);
    });
  /** Takes the nodes into use whose newest block is not too old. */
  const choose = (heads: readonly NodeAnswer<Head>[]): readonly NodeAnswer<Head>[] => {
    const oldest = staleMs === null ? -Infinity : now().getTime() - staleMs;
    const current = heads.filter(({ answer }) => answer.time.getTime() >= oldest);
    const used = current.length > 0 ? current : heads;
    nodes.use(used.map(({ node }) => node));
    const old = heads.filter((each) => !current.includes(each));
    for (const { node, answer } of old)
      if (!stale.has(node)) nodes.fault(node, 'stale', `shows nothing newer than ${textOf(answer)}`);
    stale = new Set(old.map(({ node }) => node));
    const seenAt = now();
    for (const [number, view] of views) views.set(number, { ...view, isUsed: false });
    for (const each of heads)
      views.set(each.node.number, { ...each.answer, number: each.node.number, seenAt, isUsed: used.includes(each) });
    return used;
  };

  const agreedTip = async (heads: readonly NodeAnswer<Head>[]): Promise<BlockRef> => {
    const lowest = Math.min(...heads.map(({ answer: { height } }) => height));
    let hashes = await hashesAt(lowest, heads);
    const highest = hashes;
    for (let at = lowest; ; hashes = await hashesAt((at -= 1), heads)) {
      const hash = agreedOf(hashes);
      if (typeof hash === 'string') return { height: at, hash };
      if (at === Math.max(0, lowest - DEEPEST_FORK)) throw nodes.disagreement(`the block at height ${lowest}`, highest);
    }
  };

  /** Why the chain is not current. Undefined while a node lacks a block that it may still be about to get. */
  const stalledAt = (tip: BlockRef, used: readonly NodeAnswer<Head>[]): string | null | undefined => {
    if (stale.size > 0 && used.every(({ node }) => stale.has(node))) {
      return `the newest block of each node is older than ${staleMs! / 60_000} minutes: ${headsOf(used)}`;
    }
    const ahead = used.filter(({ answer }) => answer.height > tip.height);
    if (ahead.length === 0) held = null;
    else if (held?.height !== tip.height) held = { height: tip.height, since: now(), sinceMs: nowMs() };
    if (held === null) return null;
    if (nowMs() - held.sinceMs < HELD_BACK_MS) return undefined;
    return `since ${held.since.toISOString()} the nodes do not agree on a block after ${tip.height}: ${headsOf(used)}`;
  };

  return {
    nodes: (): NodeView[] => [...views.values()].toSorted((one, other) => one.number - other.number),
    at: async (at: number): Promise<BlockRef | null> => {
      const hashes = await hashesAt(at);
      const hash = agreedOf(hashes);
      if (hash === undefined) throw nodes.disagreement(`the block at height ${at}`, hashes);
      return hash === null ? null : { height: at, hash };
    },
    tip: async (): Promise<ChainTip> => {
      const used = choose(await nodes.each(head, { evenUnused: true }));
      const tip = await agreedTip(used);
      const isNewest = used.every(({ answer: { height } }) => height <= tip.height);
      return { ...tip, isNewest, stalled: stalledAt(tip, used) };
    },
  };
};

/** Null above the tip of a node, undefined where nodes differ. */
const agreedOf = (hashes: readonly NodeAnswer<string | null>[]): string | null | undefined => {
  const [first] = hashes;
  if (hashes.some(({ answer }) => answer === null)) return null;
  return hashes.every(({ answer }) => answer === first!.answer) ? first!.answer : undefined;
};

const headsOf = (heads: readonly NodeAnswer<Head>[]): string =>
  heads.map(({ node, answer }) => `node ${node.number} has ${textOf(answer)}`).join(', ');

const textOf = ({ height, time }: Head): string => `block ${height} of ${time.toISOString()}`;
