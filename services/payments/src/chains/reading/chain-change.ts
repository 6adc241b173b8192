import type { Block, BlockRef, Transfer } from '../chain-source.ts';
import { pooled, type SeenTransfer, unmined } from './seen-transfer.ts';

/** A block that was read. Its time is null for the block at which reading began. */
export interface ReadBlock extends BlockRef {
  readonly time: Date | null;
  /** Numbers of the nodes that showed its transfers at the first reading. */
  readonly nodes: readonly number[];
}

/** Where reading stands, and what changes with it, in one transaction. */
export interface ChainChange {
  readonly cursor: ReadBlock;
  readonly transfers: readonly SeenTransfer[];
  /** The height up to which blocks were read again; absent where that does not change. */
  readonly rechecked?: number;
}

/** Moves on to a block. `changed` are its transfers after it was read, `unminedKnown` those that no block contained. */
export const forward = (
  { ref, time, nodes, spent }: Block,
  changed: readonly SeenTransfer[],
  unminedKnown: readonly SeenTransfer[],
): ChainChange => {
  const ids = new Set(changed.map(({ id }) => id));
  const conflicting = unminedKnown.flatMap((transfer) => {
    const { id, txHash, address, conflictAt, spends = [] } = transfer;
    if (ids.has(id) || conflictAt !== null) return [];
    const spenders = spends.map((output) => spent?.(output)).filter((spender) => spender !== undefined);
    const others = spenders.filter((spender) => spender !== txHash);
    if (others.length === 0) return [];
    const replacement = changed.find((each) => each.address === address && others.includes(each.txHash));
    return [{ ...transfer, conflictAt: ref.height, replacedBy: replacement?.txHash ?? null }];
  });
  return { cursor: { ...ref, time, nodes }, transfers: [...changed, ...conflicting] };
};

/** Forgets the blocks above `to`. `gone` are the transfers in them, `unminedKnown` those that no block contains. */
export const unwind = (
  to: ReadBlock,
  readUpTo: number,
  gone: readonly SeenTransfer[],
  unminedKnown: readonly SeenTransfer[],
  now: Date,
): ChainChange => {
  const isUndone = ({ conflictAt }: SeenTransfer) => conflictAt !== null && conflictAt > to.height;
  const freed = unminedKnown.filter(isUndone).map((transfer) => ({ ...transfer, conflictAt: null, replacedBy: null }));
  return { cursor: to, transfers: [...gone.map((transfer) => unmined(transfer, readUpTo, now)), ...freed] };
};

/** Takes note of the mempool. Failed payments return only with a block. */
export const lookAtPool = (
  cursor: ReadBlock,
  transfers: readonly Transfer[],
  known: readonly SeenTransfer[],
  unminedKnown: readonly SeenTransfer[],
  now: Date,
): ChainChange => {
  const byId = new Map(known.map((transfer) => [transfer.id, transfer]));
  const ids = new Set(transfers.map(({ id }) => id));
  const sighted = transfers
    .filter(({ id }) => {
      const earlier = byId.get(id);
      return !earlier || (earlier.block === null && earlier.vanishedAt !== null);
    })
    .map((transfer) => pooled(transfer, byId.get(transfer.id), now));
  const vanished = unminedKnown
    .filter(({ id, vanishedAt }) => vanishedAt === null && !ids.has(id))
    .map((transfer) => ({ ...transfer, vanishedAt: now }));
  return { cursor, transfers: [...sighted, ...vanished] };
};
