import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { DecodeError, doubleSha256, hashText, type RawTransaction, Reader, readTransaction } from './transactions.ts';

/** A block whose content fits its hash: no node can invent or leave out a transaction. */
export interface RawBlock {
  readonly parent: string;
  readonly time: Date;
  readonly transactions: readonly RawTransaction[];
}

const HEADER_BYTES = 80;
const TRANSACTIONS_PER_TURN = 100;

/** Decodes a serialized block and proves that it is the block of that hash. Throws DecodeError. */
export const readBlock = async (bytes: Buffer, hash: string): Promise<RawBlock> => {
  const reader = new Reader(bytes);
  const header = reader.take(HEADER_BYTES);
  if (hashText(doubleSha256(header)) !== hash) throw new DecodeError('is another block than the requested one');
  const transactions: RawTransaction[] = [];
  for (let left = reader.compactSize(); left > 0; left -= 1) {
    transactions.push(readTransaction(reader));
    if (transactions.length % TRANSACTIONS_PER_TURN === 0) await yieldToEventLoop();
  }
  if (!reader.isAtEnd) throw new DecodeError('continues after its last transaction');
  if (!header.subarray(36, 68).equals(merkleRoot(transactions.map(({ id }) => id))))
    throw new DecodeError('contains other transactions than its header says');
  return {
    parent: hashText(header.subarray(4, 36)),
    time: new Date(header.readUInt32LE(68) * 1_000),
    transactions,
  };
};

/** Throws DecodeError for a list whose end is repeated, which has the root of the shorter list (CVE-2012-2459). */
const merkleRoot = (ids: readonly string[]): Buffer => {
  if (ids.length === 0) throw new DecodeError('has no transaction');
  let level: Buffer[] = ids.map((id) => Buffer.from(id, 'hex').reverse());
  while (level.length > 1) {
    const next: Buffer[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at]!, level[at + 1]];
      if (right && left.equals(right)) throw new DecodeError('repeats transactions');
      next.push(doubleSha256(Buffer.concat([left, right ?? left])));
    }
    level = next;
  }
  return level[0]!;
};
