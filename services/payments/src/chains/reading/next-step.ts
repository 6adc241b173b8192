import type { BlockRef } from '../chain-source.ts';
import type { BlocksAhead } from './blocks-ahead.ts';
import { ChainHaltedError } from './open-chain.ts';
import type { Reading } from './reading.ts';

/** The next step of the watcher of a chain. */
export type NextStep =
  /** Ask the source for its block at a height. */
  | { readonly kind: 'ask'; readonly height: number }
  /** Read the block after the cursor. */
  | { readonly kind: 'read'; readonly ref: BlockRef }
  /** Blocks above `to` left the chain. */
  | { readonly kind: 'unwind'; readonly to: BlockRef }
  | { readonly kind: 'wait'; readonly isBehind: boolean }
  /** The source has none of the known blocks. */
  | { readonly kind: 'halt' };

/** Hashes that the source named, by height; null where it has no block. */
export type Answers = ReadonlyMap<number, string | null>;

/** Decides from the blocks that were read last, oldest first, and from what the source said. Only another hash at a
 *  known height unwinds: a node without a block is behind. */
export const nextStep = (window: readonly BlockRef[], answers: Answers): NextStep => {
  const cursor = window.at(-1)!;
  const above = answers.get(cursor.height + 1);
  if (above === undefined) return { kind: 'ask', height: cursor.height + 1 };
  const own = answers.get(cursor.height);
  if (above !== null && (own === undefined || own === cursor.hash))
    return { kind: 'read', ref: { height: cursor.height + 1, hash: above } };
  if (own === undefined) return { kind: 'ask', height: cursor.height };
  if (own === cursor.hash) return { kind: 'wait', isBehind: false };
  return commonAncestor(window, answers);
};

/** Walks down from the cursor to the highest block that the source has too. */
const commonAncestor = (window: readonly BlockRef[], answers: Answers): NextStep => {
  let isInConflict = false;
  for (const block of window.toReversed()) {
    const answer = answers.get(block.height);
    if (answer === block.hash) return isInConflict ? { kind: 'unwind', to: block } : { kind: 'wait', isBehind: true };
    if (answer === undefined && isInConflict) return { kind: 'ask', height: block.height };
    isInConflict ||= typeof answer === 'string';
  }
  return isInConflict ? { kind: 'halt' } : { kind: 'wait', isBehind: true };
};

interface Move {
  readonly state: 'reading' | 'at_tip' | 'behind';
  /** Watched addresses, after a block was read. */
  readonly watched?: number;
}

/** Moves the cursor by one block, or back. */
export const move = async (
  blocks: BlocksAhead,
  reading: Reading,
  answers: Map<number, string | null>,
): Promise<Move> => {
  for (;;) {
    const step = nextStep(reading.window, answers);
    switch (step.kind) {
      case 'ask':
        answers.set(step.height, (await blocks.at(step.height))?.hash ?? null);
        break;
      case 'read': {
        const below = step.ref.height - 1;
        const { parent, watched } = await reading.read(step.ref);
        answers.set(below, parent);
        if (reading.height() === below) break;
        answers.delete(below);
        return { state: 'reading', watched };
      }
      case 'unwind':
        await reading.undo(step.to);
        answers.clear();
        return { state: 'reading' };
      case 'wait':
        return { state: step.isBehind ? 'behind' : 'at_tip' };
      case 'halt': {
        const { length } = reading.window;
        throw new ChainHaltedError(
          'deeper_than_window',
          `none of the last ${length} blocks is on the chain of the nodes`,
        );
      }
    }
  }
};
