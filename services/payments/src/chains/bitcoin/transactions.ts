import { hash } from 'node:crypto';

/** A transaction of a block, as slices of the block: nothing is copied. */
export interface RawTransaction {
  readonly id: string;
  /** `<txid>:<vout>` of each output that it spends. */
  readonly spends: () => string[];
  readonly outputs: readonly Output[];
  /** It creates new coins. */
  readonly isCoinbase: boolean;
}

export interface Output {
  readonly units: bigint;
  readonly script: Buffer;
}

/** The bytes are no serialized block or transaction. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

const NO_OUTPUT = 0xff_ff_ff_ff;
const OUTPOINT_BYTES = 36;
const MAX_UNITS = 2_100_000_000_000_000n;

export const doubleSha256 = (bytes: Buffer): Buffer => hash('sha256', hash('sha256', bytes, 'buffer'), 'buffer');

/** A hash in the spelling of explorers and RPC: the bytes in reverse order. */
export const hashText = (bytes: Buffer): string => Buffer.from(bytes).reverse().toString('hex');

/** Reads serialized values one after another. Source: Bitcoin developer reference, "Raw transaction format", BIP144. */
export class Reader {
  position = 0;
  readonly bytes: Buffer;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
  take(count: number): Buffer {
    const end = this.position + count;
    if (end > this.bytes.length) throw new DecodeError('ends in the middle of a value');
    const slice = this.bytes.subarray(this.position, end);
    this.position = end;
    return slice;
  }
  uint32(): number {
    return this.take(4).readUInt32LE(0);
  }
  /** A count or a length. */
  compactSize(): number {
    const first = this.take(1)[0]!;
    if (first < 0xfd) return first;
    if (first === 0xfd) return this.take(2).readUInt16LE(0);
    if (first === 0xfe) return this.uint32();
    throw new DecodeError('contains a count above 32 bits');
  }
  get isAtEnd(): boolean {
    return this.position === this.bytes.length;
  }
}

/** Reads the transaction that begins at the position of the reader. Throws DecodeError. */
export const readTransaction = (reader: Reader): RawTransaction => {
  const version = reader.take(4);
  const isSegwit = reader.bytes[reader.position] === 0 && reader.bytes[reader.position + 1] === 1;
  if (isSegwit) reader.take(2);
  const start = reader.position;
  const outpoints = readInputs(reader);
  const outputs = readOutputs(reader);
  const body = reader.bytes.subarray(start, reader.position);
  if (isSegwit) skipWitnesses(reader, outpoints.length);
  const lockTime = reader.take(4);
  const [first] = outpoints;
  return {
    id: hashText(doubleSha256(Buffer.concat([version, body, lockTime]))),
    spends: () => outpoints.map((outpoint) => `${hashText(outpoint.subarray(0, 32))}:${outpoint.readUInt32LE(32)}`),
    outputs,
    isCoinbase:
      outpoints.length === 1 &&
      first!.readUInt32LE(32) === NO_OUTPUT &&
      first!.subarray(0, 32).every((byte) => byte === 0),
  };
};

const readInputs = (reader: Reader): Buffer[] => {
  const outpoints: Buffer[] = [];
  for (let left = reader.compactSize(); left > 0; left -= 1) {
    outpoints.push(reader.take(OUTPOINT_BYTES));
    reader.take(reader.compactSize() + 4);
  }
  if (outpoints.length === 0) throw new DecodeError('contains a transaction without inputs');
  return outpoints;
};

const readOutputs = (reader: Reader): Output[] => {
  const outputs: Output[] = [];
  for (let left = reader.compactSize(); left > 0; left -= 1) {
    const units = reader.take(8).readBigUInt64LE(0);
    if (units > MAX_UNITS) throw new DecodeError('contains an output of more than all coins');
    outputs.push({ units, script: reader.take(reader.compactSize()) });
  }
  return outputs;
};

const skipWitnesses = (reader: Reader, inputs: number): void => {
  for (let input = 0; input < inputs; input += 1)
    for (let left = reader.compactSize(); left > 0; left -= 1) reader.take(reader.compactSize());
};
