import type { Block, BlockRef, Transfer } from './chain-source.ts';
import { mined, pooled, type SeenTransfer, unmined } from './seen-transfer.ts';

/** A block that was read. Its time is null for the block at which reading began. */
export interface ReadBlock extends BlockRef {
  readonly time: Date | null;
}

/** Where reading stands, and what changes with it, in one transaction. */
export interface ChainChange {
  readonly cursor: ReadBlock;
  readonly transfers: readonly SeenTransfer[];
}

/** Reads a block. `known` are the transfers that the block repeats, `unminedKnown` those that no block contains. */
export const forward = (
  { ref, time, transfers, spent }: Block,
  known: readonly SeenTransfer[],
  unminedKnown: readonly SeenTransfer[],
  now: Date,
): ChainChange => {
  const byId = new Map(known.map((transfer) => [transfer.id, transfer]));
  const arrived = transfers.map((transfer) => mined(transfer, { ref, time }, byId.get(transfer.id), now));
  const ids = new Set(transfers.map(({ id }) => id));
  const conflicting = unminedKnown.filter(
    ({ id, txHash, conflictAt, spends = [] }) =>
      !ids.has(id) && conflictAt === null && spends.some((output) => isSpentByAnother(spent?.(output), txHash)),
  );
  return {
    cursor: { ...ref, time },
    transfers: [...arrived, ...conflicting.map((transfer) => ({ ...transfer, conflictAt: ref.height }))],
  };
};

const isSpentByAnother = (spender: string | undefined, txHash: string): boolean =>
  spender !== undefined && spender !== txHash;

/** Forgets the blocks above `to`. `gone` are the transfers in them, `unminedKnown` those that no block contains. */
export const unwind = (
  to: ReadBlock,
  readUpTo: number,
  gone: readonly SeenTransfer[],
  unminedKnown: readonly SeenTransfer[],
  now: Date,
): ChainChange => {
  const isUndone = ({ conflictAt }: SeenTransfer) => conflictAt !== null && conflictAt > to.height;
  const freed = unminedKnown.filter(isUndone).map((transfer) => ({ ...transfer, conflictAt: null }));
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
