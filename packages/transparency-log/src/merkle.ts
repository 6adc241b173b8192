import { createHash } from 'node:crypto';

// The Merkle tree of RFC 6962, section 2.1. Hashes are SHA-256, 32 bytes each.

/** The hash of an entry as a leaf of the tree. */
export const leafHash = (entry: Uint8Array): Buffer => sha256(LEAF, entry);

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(NODE, left, right);

/** The hash of the subtree over leaves `index * 2 ** height` and following, `2 ** height` of them. All of them exist. */
export type ReadSubtree = (height: number, index: number) => Promise<Buffer>;

/** The root of the tree over the first `size` leaves. */
export const rootOf = async (read: ReadSubtree, size: number): Promise<Buffer> => {
  let root: Buffer | null = null;
  for (const { height, index } of completeSubtrees(size).toReversed()) {
    const left = await read(height, index);
    root = root ? nodeHash(left, root) : left;
  }
  return root ?? sha256();
};

/** The complete subtrees that make up a tree, the largest first: one for each bit of its size. */
const completeSubtrees = (size: number): { height: number; index: number }[] => {
  const found = [];
  let start = 0;
  for (let height = 52; height >= 0; height -= 1) {
    const leaves = 2 ** height;
    if (size - start < leaves) continue;
    found.push({ height, index: start / leaves });
    start += leaves;
  }
  return found;
};

/** The root of a complete tree. `level`: its hashes at one height, a power of two. */
export const rootOfComplete = (level: readonly Buffer[]): Buffer => {
  if (level.length === 1) return level[0]!;
  const above = [];
  for (let n = 0; n < level.length; n += 2) above.push(nodeHash(level[n]!, level[n + 1]!));
  return rootOfComplete(above);
};
