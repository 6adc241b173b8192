import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  DecodeError,
  doubleSha256,
  hashOf,
  hashText,
  type RawTransaction,
  Reader,
  readTransaction,
} from './transactions.ts';

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

/** Decodes a block and proves that it has this hash. Overwrites the witnesses in `bytes`. Throws DecodeError. */
export const readBlock = async (bytes: Buffer, hash: string): Promise<RawBlock> => {
  const reader = new Reader(bytes);
  reader.skip(HEADER_BYTES);
  if (hashText(doubleSha256(bytes.subarray(0, HEADER_BYTES))) !== hash)
    throw new DecodeError('is another block than the requested one');
  const count = reader.compactSize();
  if (count === 0) throw new DecodeError('has no transaction');
  if (count > bytes.length / SMALLEST_TRANSACTION) throw new DecodeError('ends in the middle of a value');
  const transactions: RawTransaction[] = [];
  const hashes: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const transaction = readTransaction(reader);
    transactions.push(transaction);
    hashes.push(hashOf(bytes, transaction));
    if (index % TRANSACTIONS_PER_TURN === TRANSACTIONS_PER_TURN - 1) await yieldToEventLoop();
  }
  if (!reader.isAtEnd) throw new DecodeError('continues after its last transaction');
  if (!merkleRoot(hashes).equals(bytes.subarray(36, 68)))
    throw new DecodeError('contains other transactions than its header says');
  const time = new Date(bytes.readUInt32LE(68) * 1_000);
  return { parent: hashText(bytes, 4), time, bytes, transactions };
};

/** The root of at least one hash. Throws DecodeError for repeated transactions at the end, which give the root of the
 *  block without them (CVE-2012-2459). Source: Bitcoin developer reference, "Merkle Trees". */
export const merkleRoot = (hashes: readonly Buffer[]): Buffer => {
  if (hashes.length === 1) return hashes[0]!;
  const parents: Buffer[] = [];
  for (let at = 0; at < hashes.length; at += 2) {
    const [left, right] = [hashes[at]!, hashes[at + 1]];
    if (right && left.equals(right)) throw new DecodeError('repeats transactions');
    parents.push(doubleSha256(Buffer.concat([left, right ?? left])));
  }
  return merkleRoot(parents);
};
