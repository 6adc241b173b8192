// The thread of merkle-root.ts.
import { Buffer } from 'node:buffer';
import { parentPort } from 'node:worker_threads';
import { HASH_BYTES, writeDoubleSha256 } from './double-sha256.mjs';

/**
 * The hashes of the transactions, with room to repeat the last one.
 * @type {(question: import('./merkle-root.ts').MerkleQuestion) => Buffer}
 */
const idsOf = ({ bytes, ranges }) => {
  const count = ranges.length / 2;
  const ids = Buffer.alloc((count + 1) * HASH_BYTES);
  for (let index = 0; index < count; index += 1)
    writeDoubleSha256(bytes.subarray(ranges[2 * index], ranges[2 * index + 1]), ids, index * HASH_BYTES);
  return ids;
};

/**
 * Whether two hashes are equal. `compare` is slow, and the first bytes differ.
 * @type {(hashes: Buffer, one: number, other: number) => boolean}
 */
const areEqual = (hashes, one, other) =>
  hashes.readUInt32LE(one) === hashes.readUInt32LE(other) &&
  hashes.compare(hashes, one, one + HASH_BYTES, other, other + HASH_BYTES) === 0;

/**
 * Leaves the Merkle root of the first `count` hashes at the start of the buffer. False for a repeated
 * end, which gives the same root (CVE-2012-2459).
 * @type {(hashes: Buffer, count: number) => boolean}
 */
const foldToRoot = (hashes, count) => {
  for (let width = count; width > 1; width = (width + 1) >> 1) {
    for (let left = 0; left < width; left += 2) {
      const start = left * HASH_BYTES;
      const middle = start + HASH_BYTES;
      if (left + 1 === width) hashes.copyWithin(middle, start, middle);
      else if (areEqual(hashes, start, middle)) return false;
      writeDoubleSha256(hashes.subarray(start, middle + HASH_BYTES), hashes, start / 2);
    }
  }
  return true;
};

parentPort?.on('message', (/** @type {import('./merkle-root.ts').MerkleQuestion} */ question) => {
  const hashes = idsOf(question);
  const isUnique = foldToRoot(hashes, question.ranges.length / 2);
  const root = isUnique ? Uint8Array.from(hashes.subarray(0, HASH_BYTES)) : null;
  parentPort?.postMessage({ root, bytes: question.bytes }, [question.bytes.buffer]);
});
