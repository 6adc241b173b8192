import { hash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

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

/** Where a transaction without its witnesses is in some bytes: few transactions are decoded. */
export interface RawTransaction {
  readonly start: number;
  /** Offset of the count of outputs. */
  readonly outputs: number;
  readonly end: number;
}

/** An output: its place in the transaction, its amount, and where its script is in the bytes. */
type VisitOutput = (vout: number, units: number, script: number, scriptBytes: number) => void;

/** The bytes are no serialized block or transaction. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

const HASH_BYTES = 32;
const NO_OUTPUT = 0xff_ff_ff_ff;
const OUTPOINT_BYTES = 36;
const VERSION_BYTES = 4;
const LOCK_TIME_BYTES = 4;
const MAX_UNITS = 2_100_000_000_000_000;
const TWO_TO_32 = 2 ** 32;

export const doubleSha256 = (message: Uint8Array): Buffer =>
  hash('sha256', hash('sha256', message, 'buffer'), 'buffer');

/** A hash at an offset in the spelling of explorers and RPC: the bytes in reverse order. */
export const hashText = (bytes: Buffer, offset = 0): string =>
  Buffer.from(bytes.subarray(offset, offset + HASH_BYTES))
    .reverse()
    .toString('hex');

/** Reads serialized values one after another. Source: Bitcoin developer reference, "Raw transaction format", BIP144. */
export class Reader {
  position: number;
  readonly bytes: Buffer;
  constructor(bytes: Buffer, position = 0) {
    this.bytes = bytes;
    this.position = position;
  }
  /** Resolves to the offset of the skipped bytes. */
  skip(count: number): number {
    const start = this.position;
    if (start + count > this.bytes.length) throw new DecodeError('ends in the middle of a value');
    this.position = start + count;
    return start;
  }
  /** A count or a length. */
  compactSize(): number {
    const first = this.bytes[this.skip(1)]!;
    if (first < 0xfd) return first;
    if (first === 0xfd) return this.bytes.readUInt16LE(this.skip(2));
    if (first === 0xfe) return this.bytes.readUInt32LE(this.skip(4));
    throw new DecodeError('contains a count above 32 bits');
  }
  get isAtEnd(): boolean {
    return this.position === this.bytes.length;
  }
}

/** Reads one transaction and overwrites its witnesses, because its id is the hash of the rest.
 *  Throws DecodeError. */
export const readTransaction = (reader: Reader): RawTransaction => {
  const { bytes } = reader;
  let start = reader.skip(VERSION_BYTES);
  const isSegwit = bytes[reader.position] === 0 && bytes[reader.position + 1] === 1;
  if (isSegwit) {
    reader.skip(2);
    bytes.writeUInt32LE(bytes.readUInt32LE(start), start + 2);
    start += 2;
  }
  const inputs = reader.compactSize();
  if (inputs === 0) throw new DecodeError('contains a transaction without inputs');
  for (let left = inputs; left > 0; left -= 1) {
    reader.skip(OUTPOINT_BYTES);
    reader.skip(reader.compactSize() + 4);
  }
  const outputs = reader.position;
  for (let left = reader.compactSize(); left > 0; left -= 1) {
    if (unitsAt(bytes, reader.skip(8)) > MAX_UNITS) throw new DecodeError('contains an output of more than all coins');
    reader.skip(reader.compactSize());
  }
  const end = reader.position + LOCK_TIME_BYTES;
  if (isSegwit) skipWitnesses(reader, inputs);
  const lockTime = reader.skip(LOCK_TIME_BYTES);
  if (isSegwit) bytes.writeUInt32LE(bytes.readUInt32LE(lockTime), end - LOCK_TIME_BYTES);
  return { start, outputs, end };
};

const skipWitnesses = (reader: Reader, inputs: number): void => {
  for (let input = 0; input < inputs; input += 1)
    for (let left = reader.compactSize(); left > 0; left -= 1) reader.skip(reader.compactSize());
};

/** Exact: all bitcoins together are fewer units than 2^53. */
const unitsAt = (bytes: Buffer, offset: number): number =>
  bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * TWO_TO_32;

const hashOf = (bytes: Buffer, { start, end }: RawTransaction): Buffer => doubleSha256(bytes.subarray(start, end));

export const idOf = (bytes: Buffer, transaction: RawTransaction): string => hashText(hashOf(bytes, transaction));

/** Calls `visit` for each output, without an array of them: a block has thousands. */
export const eachOutput = (bytes: Buffer, { outputs }: RawTransaction, visit: VisitOutput): void => {
  const reader = new Reader(bytes, outputs);
  const count = reader.compactSize();
  for (let vout = 0; vout < count; vout += 1) {
    const units = unitsAt(bytes, reader.skip(8));
    const scriptBytes = reader.compactSize();
    visit(vout, units, reader.skip(scriptBytes), scriptBytes);
  }
};

/** `<txid>:<vout>` of each output that a transaction spends. */
export const spendsOf = (bytes: Buffer, { start }: RawTransaction): string[] => {
  const reader = new Reader(bytes, start + VERSION_BYTES);
  return Array.from({ length: reader.compactSize() }, () => {
    const outpoint = reader.skip(OUTPOINT_BYTES);
    reader.skip(reader.compactSize() + 4);
    return `${hashText(bytes, outpoint)}:${bytes.readUInt32LE(outpoint + HASH_BYTES)}`;
  });
};

const NO_HASH = '00'.repeat(HASH_BYTES);

/** Whether a transaction creates new coins. */
export const isCoinbase = (bytes: Buffer, transaction: RawTransaction): boolean => {
  const [first, ...others] = spendsOf(bytes, transaction);
  return others.length === 0 && first === `${NO_HASH}:${NO_OUTPUT}`;
};
