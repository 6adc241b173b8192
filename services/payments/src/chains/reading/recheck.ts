import { type Block, type BlockRef, correctedId, isInsideCall, type Transfer } from '../chain-source.ts';
import { ENOUGH_READINGS, isTakenOut, mined, type Seen, type SeenTransfer, stillIn } from './seen-transfer.ts';

/** The ids under which the transfers of a block can be known. */
export const knownIdsOf = (transfers: readonly Transfer[]): string[] =>
  transfers.flatMap((transfer) => [transfer.id, correctedId(transfer)]);

const isSameMoney = (one: Transfer, other: Transfer): boolean =>
  one.address === other.address && one.asset === other.asset && one.units === other.units;

/** The scope of a reading: some addresses that are watched, and assets. */
export interface Scope {
  readonly addresses: ReadonlySet<string>;
  readonly assets: ReadonlySet<string>;
}

export interface Comparison {
  /** The transfers of this reading, and the ones that earlier readings of any block showed. */
  readonly shown: readonly { readonly transfer: Transfer; readonly known: SeenTransfer | undefined }[];
  /** Those that earlier readings of this block showed, and this one does not. A correction of their amount is shown. */
  readonly missing: readonly SeenTransfer[];
}

/** Compares a reading of a block with the transfers that are known of it and by `knownIdsOf` its transfers. A reading
 *  says nothing about calls inside transactions if it is without traces, nor about addresses and assets outside its
 *  scope: addresses retire, and assets are removed. */
export const compareReadings = (
  known: readonly SeenTransfer[],
  block: Pick<Block, 'ref' | 'transfers' | 'isTraced'>,
  scope: Scope,
): Comparison => {
  const { ref, transfers } = block;
  const byId = new Map(known.map((transfer) => [transfer.id, transfer]));
  const shown = transfers.map((transfer) => {
    const first = byId.get(transfer.id);
    if (!first || isSameMoney(first, transfer)) return { transfer, known: first };
    const id = correctedId(transfer);
    return { transfer: { ...transfer, id }, known: byId.get(id) };
  });
  const ids = new Set(shown.map(({ transfer }) => transfer.id));
  const missing = known.filter(
    (transfer) => wasIn(transfer, ref) && !ids.has(transfer.id) && wasLookedFor(transfer, block, scope),
  );
  return { shown, missing };
};

export const wasLookedFor = (
  transfer: SeenTransfer,
  { isTraced }: Pick<Block, 'isTraced'>,
  { addresses, assets }: Scope,
): boolean => addresses.has(transfer.address) && assets.has(transfer.asset) && (isTraced || !isInsideCall(transfer));

/** Whether the last block that contained a transfer is this one. */
const wasIn = ({ block, lostHash }: SeenTransfer, { hash }: BlockRef): boolean => (block?.hash ?? lostHash) === hash;

/** A wrong answer of nodes, found once readings agree. */
export interface Finding {
  /** `missed`: nodes left the transfer out. `misread`: nodes showed a transfer that the block does not contain, or
   *  another amount of it. */
  readonly kind: 'missed' | 'misread';
  readonly transfer: SeenTransfer;
  readonly nodes: readonly number[];
}

export interface BlockReading {
  readonly changed: readonly SeenTransfer[];
  /** Transfers about which this reading says another thing than the one before. */
  readonly differing: readonly SeenTransfer[];
  readonly findings: readonly Finding[];
}

/** The nodes of the first reading of a block; null while this is the first one. */
export type FirstNodes = readonly number[] | null;

/** Changes the transfers of a block by one more reading of it. A transfer that two readings in a row, or a proven one,
 *  do not show is taken out of the block. */
export const readBlock = (
  known: readonly SeenTransfer[],
  block: Block,
  { scope, firstNodes, now }: { readonly scope: Scope; readonly firstNodes: FirstNodes; readonly now: Date },
): BlockReading => {
  const { ref } = block;
  const { shown, missing } = compareReadings(known, block, scope);
  const ids = new Set([...shown.map(({ transfer }) => transfer.id), ...missing.map(({ id }) => id)]);
  const seenOf = (transfer: Transfer, before: Seen | null, isShown: boolean): Seen =>
    nextSeen(before, isShown, block, { firstNodes, isProven: block.isProven && !isInsideCall(transfer) });
  const each = [
    ...shown.map(({ transfer, known: earlier }) => {
      const before = earlier && wasIn(earlier, ref) ? earlier.seen : null;
      return { before, after: mined(transfer, block, seenOf(transfer, before, true), earlier, now) };
    }),
    // A rescan that shows nothing leaves out what is taken out already.
    ...missing
      .filter((transfer) => !isTakenOut(transfer))
      .map((transfer) => {
        const after = stillIn(transfer, ref, seenOf(transfer, transfer.seen, false));
        return {
          before: transfer.seen,
          after: after.seen.readings < ENOUGH_READINGS ? after : takenOut(after, ref, now),
        };
      }),
  ];
  // A rescan must not lose what it did not look for and an earlier reading of the same block showed.
  const kept = known.filter((transfer) => isLostFrom(transfer, ref) && !ids.has(transfer.id));
  const wasNew = (before: Seen | null) => before === null && firstNodes !== null;
  return {
    changed: [...each.map(({ after }) => after), ...kept.map((transfer) => stillIn(transfer, ref, transfer.seen))],
    differing: each
      .filter(({ before, after }) => wasNew(before) || (before !== null && before.isShown !== after.seen.isShown))
      .map(({ after }) => after),
    findings: each.flatMap(({ before, after }) => findingOf(before, after)),
  };
};

const isLostFrom = (transfer: SeenTransfer, { hash }: BlockRef): boolean =>
  transfer.block === null && transfer.lostHash === hash && !isTakenOut(transfer);

const takenOut = (transfer: SeenTransfer, { hash }: BlockRef, now: Date): SeenTransfer => ({
  ...transfer,
  lostHash: hash,
  block: null,
  vanishedAt: now,
});

const nextSeen = (
  before: Seen | null,
  isShown: boolean,
  { nodes }: Pick<Block, 'nodes'>,
  { firstNodes, isProven }: { readonly firstNodes: FirstNodes; readonly isProven: boolean },
): Seen => {
  const { shownBy, missedBy } = before ?? { shownBy: [], missedBy: firstNodes ?? [] };
  const inARow = before?.isShown === isShown ? before.readings + 1 : 1;
  const isAgain = before !== null || firstNodes !== null;
  return {
    isShown,
    readings: isProven && isAgain ? Math.max(ENOUGH_READINGS, inARow) : inARow,
    shownBy: isShown ? union(shownBy, nodes) : shownBy,
    missedBy: isShown ? missedBy : union(missedBy, nodes),
  };
};

const union = (one: readonly number[], other: readonly number[]): number[] =>
  [...new Set([...one, ...other])].toSorted((a, b) => a - b);

/** Nodes are blamed when readings agree, not while they differ. */
const findingOf = (before: Seen | null, after: SeenTransfer): Finding[] => {
  const { isShown, readings, shownBy, missedBy } = after.seen;
  const isDecided = readings >= ENOUGH_READINGS && !(before?.isShown === isShown && before.readings >= ENOUGH_READINGS);
  const nodes = isShown ? missedBy : shownBy;
  if (!isDecided || nodes.length === 0) return [];
  return [{ kind: isShown ? 'missed' : 'misread', transfer: after, nodes }];
};
