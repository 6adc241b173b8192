import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  DecodeError,
  HASH_BYTES,
  hashText,
  type RawTransaction,
  Reader,
  readTransaction,
  writeDoubleSha256,
  writeId,
} from './transactions.ts';

/** A block whose content fits its hash: no node can invent or leave out a transaction. */
export interface RawBlock {
  readonly parent: string;
  readonly time: Date;
  readonly transactions: readonly RawTransaction[];
}

const HEADER_BYTES = 80;
const TRANSACTIONS_PER_TURN = 500;
const HASHES_PER_TURN = 1_000;
// A transaction has at least one input and one output.
const SMALLEST_TRANSACTION = 60;

/** Decodes a block and proves that it has this hash. Overwrites the witnesses in `bytes`.
 *  Throws DecodeError. */
export const readBlock = async (bytes: Buffer, hash: string): Promise<RawBlock> => {
  const reader = new Reader(bytes);
  reader.skip(HEADER_BYTES);
  const digest = Buffer.alloc(HASH_BYTES);
  writeDoubleSha256(bytes.subarray(0, HEADER_BYTES), digest, 0);
  if (hashText(digest) !== hash) throw new DecodeError('is another block than the requested one');
  const count = reader.compactSize();
  if (count === 0) throw new DecodeError('has no transaction');
  if (count > bytes.length / SMALLEST_TRANSACTION) throw new DecodeError('ends in the middle of a value');
  const transactions: RawTransaction[] = [];
  // One more, because the last of an odd number is repeated.
  const hashes = Buffer.alloc((count + 1) * HASH_BYTES);
  for (let index = 0; index < count; index += 1) {
    const transaction = readTransaction(reader);
    transactions.push(transaction);
    writeId(transaction, hashes, index * HASH_BYTES);
    if (index % TRANSACTIONS_PER_TURN === TRANSACTIONS_PER_TURN - 1) await yieldToEventLoop();
  }
  if (!reader.isAtEnd) throw new DecodeError('continues after its last transaction');
  await foldToMerkleRoot(hashes, count);
  if (bytes.compare(hashes, 0, HASH_BYTES, 36, 68) !== 0)
    throw new DecodeError('contains other transactions than its header says');
  return { parent: hashText(bytes, 4), time: new Date(bytes.readUInt32LE(68) * 1_000), transactions };
};

/** Leaves the Merkle root of the first `count` hashes at the start of the buffer.
 *  Throws DecodeError for a repeated end, which gives the same root (CVE-2012-2459). */
const foldToMerkleRoot = async (hashes: Buffer, count: number): Promise<void> => {
  for (let width = count; width > 1; width = (width + 1) >> 1) {
    for (let left = 0; left < width; left += 2) {
      const start = left * HASH_BYTES;
      const middle = start + HASH_BYTES;
      if (left + 1 === width) hashes.copyWithin(middle, start, middle);
      else if (hashes.compare(hashes, start, middle, middle, middle + HASH_BYTES) === 0)
        throw new DecodeError('repeats transactions');
      writeDoubleSha256(hashes.subarray(start, middle + HASH_BYTES), hashes, start / 2);
      if (left % HASHES_PER_TURN === HASHES_PER_TURN - 2) await yieldToEventLoop();
    }
  }
};
