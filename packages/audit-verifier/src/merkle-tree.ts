import { createHash } from 'node:crypto';

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** A Merkle tree that grows (RFC 6962, section 2.1). It keeps one hash for each bit of its size. */
export const merkleTree = () => {
  let size = 0;
  /** The roots of its complete subtrees, the largest first. */
  const complete: Buffer[] = [];
  return {
    add: (entry: string): void => {
      complete.push(sha256(LEAF, entry));
      size += 1;
      // Each zero bit at the end of the size stands for two subtrees of the same size.
      for (let rest = size; rest % 2 === 0; rest /= 2) complete.push(sha256(NODE, ...complete.splice(-2)));
    },
    size: () => size,
    /** In base64, as checkpoints show it. */
    root: (): string =>
      (complete.length === 0 ? sha256() : complete.reduceRight((right, left) => sha256(NODE, left, right))).toString(
        'base64',
      ),
  };
};
