import { gunzipSync } from 'node:zlib';

/** By the code in the attributes of a record batch. */
export const COMPRESSION = { none: 0, gzip: 1 } as const;

/** A larger batch could not be decompressed without harm to the other clients. */
const MAX_DECOMPRESSED_BYTES = 64 * 1024 * 1024;

/** The content of compressed records. Throws an Error for malformed bytes and for too large a content. */
export const decompress = (compression: number, bytes: Buffer): Buffer =>
  compression === COMPRESSION.none ? bytes : gunzipSync(bytes, { maxOutputLength: MAX_DECOMPRESSED_BYTES });

/** The position of a record relative to its batch, and its time relative to the base timestamp (ms). */
export interface RecordDeltas {
  readonly offsetDelta: number;
  readonly timestampDelta: number;
}

/** Bytes that are not a sequence of records. */
export class MalformedRecords extends Error {
  override readonly name = 'MalformedRecords';
}

/** The deltas of each of the uncompressed `records` of a batch. Throws MalformedRecords at the first byte that cannot
 *  belong to a record. Source: kafka.apache.org/documentation, "Record". */
export function* recordsIn(records: Buffer): Generator<RecordDeltas> {
  for (const reader = new VarintReader(records); reader.position < records.length;) {
    const length = reader.varint();
    const end = reader.position + length;
    if (length < 0 || end > records.length) throw new MalformedRecords('a record is incomplete');
    reader.skip(1); // attributes: unused
    const timestampDelta = reader.varint();
    const offsetDelta = reader.varint();
    reader.skip(Math.max(0, reader.varint())); // key, -1 for null
    reader.skip(Math.max(0, reader.varint())); // value, -1 for null
    const headers = reader.varint();
    if (headers < 0) throw new MalformedRecords('the number of headers is negative');
    for (let n = 0; n < headers; n += 1) {
      reader.skip(reader.varint());
      reader.skip(Math.max(0, reader.varint()));
    }
    if (reader.position !== end) throw new MalformedRecords('the length of a record is wrong');
    yield { offsetDelta, timestampDelta };
  }
}

const MAX_VARINT_BYTES = 10;

class VarintReader {
  position = 0;
  private readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Reads a zigzag varint. It is exact up to 53 bits. */
  varint(): number {
    let zigzag = 0;
    for (let n = 0, factor = 1; n < MAX_VARINT_BYTES; n += 1, factor *= 128) {
      const byte = this.bytes[this.position];
      if (byte === undefined) throw new MalformedRecords('a record is incomplete');
      this.position += 1;
      zigzag += (byte & 0x7f) * factor;
      if (byte < 0x80) return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    }
    throw new MalformedRecords(`a varint has more than ${MAX_VARINT_BYTES} bytes`);
  }

  skip(count: number): void {
    if (count < 0 || this.position + count > this.bytes.length) throw new MalformedRecords('a record is incomplete');
    this.position += count;
  }
}
