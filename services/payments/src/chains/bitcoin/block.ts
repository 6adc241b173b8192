import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { HASH_BYTES, writeDoubleSha256 } from './double-sha256.ts';
import type { MerkleRoots } from './merkle-root.ts';
import { DecodeError, hashText, type RawTransaction, Reader, readTransaction } from './transactions.ts';

/** A block whose content fits its hash: no node can invent or leave out a transaction. */
export interface RawBlock {
  readonly parent: string;
  readonly time: Date;
  readonly bytes: Buffer;
  readonly transactions: readonly RawTransaction[];
}

const HEADER_BYTES = 80;
const TRANSACTIONS_PER_TURN = 500;
// A transaction has at least one input and one output.
const SMALLEST_TRANSACTION = 60;

/** Decodes a block and proves that it has this hash. Takes `bytes`, which are alone in their ArrayBuffer, and
 *  overwrites their witnesses. Throws DecodeError. */
export const readBlock = async (bytes: Buffer, hash: string, roots: MerkleRoots): Promise<RawBlock> => {
  const reader = new Reader(bytes);
  reader.skip(HEADER_BYTES);
  const digest = Buffer.alloc(HASH_BYTES);
  writeDoubleSha256(bytes.subarray(0, HEADER_BYTES), digest, 0);
  if (hashText(digest) !== hash) throw new DecodeError('is another block than the requested one');
  const count = reader.compactSize();
  if (count === 0) throw new DecodeError('has no transaction');
  if (count > bytes.length / SMALLEST_TRANSACTION) throw new DecodeError('ends in the middle of a value');
  const transactions: RawTransaction[] = [];
  for (let index = 0; index < count; index += 1) {
    transactions.push(readTransaction(reader));
    if (index % TRANSACTIONS_PER_TURN === TRANSACTIONS_PER_TURN - 1) await yieldToEventLoop();
  }
  if (!reader.isAtEnd) throw new DecodeError('continues after its last transaction');
  const proven = await roots.of(bytes, transactions);
  if (proven.root === null) throw new DecodeError('repeats transactions');
  if (proven.bytes.compare(proven.root, 0, HASH_BYTES, 36, 68) !== 0)
    throw new DecodeError('contains other transactions than its header says');
  const time = new Date(proven.bytes.readUInt32LE(68) * 1_000);
  return { parent: hashText(proven.bytes, 4), time, bytes: proven.bytes, transactions };
};
