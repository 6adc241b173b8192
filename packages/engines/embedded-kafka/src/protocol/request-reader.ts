/** The bytes do not follow the protocol. Their connection is closed. */
export class MalformedRequest extends Error {
  override readonly name = 'MalformedRequest';
}

/** Reads the primitive types of the Kafka protocol. `flexible` requests (KIP-482) have compact lengths and tagged
 *  fields. Clamps 64-bit integers to the safe integers. Throws MalformedRequest when bytes are missing or a length is
 *  invalid. */
export class RequestReader {
  private position = 0;
  private readonly buffer: Buffer;
  flexible = false;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
  }

  get remaining(): number {
    return this.buffer.length - this.position;
  }

  int8 = (): number => this.buffer.readInt8(this.advance(1));
  int16 = (): number => this.buffer.readInt16BE(this.advance(2));
  int32 = (): number => this.buffer.readInt32BE(this.advance(4));
  int64 = (): number => safeInteger(this.buffer.readBigInt64BE(this.advance(8)));
  boolean = (): boolean => this.int8() !== 0;

  string = (): string => this.nullableString() ?? malformed('a string is null');

  nullableString = (): string | null => {
    const length = this.flexible ? this.varuint() - 1 : this.int16();
    return this.slice(length)?.toString('utf8') ?? null;
  };

  bytes = (): Buffer => this.nullableBytes() ?? malformed('a byte string is null');

  nullableBytes = (): Buffer | null => this.slice(this.flexible ? this.varuint() - 1 : this.int32());

  array = <T>(item: () => T): T[] => this.nullableArray(item) ?? [];

  nullableArray = <T>(item: () => T): T[] | null => {
    const length = this.flexible ? this.varuint() - 1 : this.int32();
    if (length === -1) return null;
    // Every item takes at least one byte, so a forged length cannot allocate much memory.
    if (length < 0 || length > this.remaining) malformed(`invalid array length ${length}`);
    return Array.from({ length }, item);
  };

  /** Skips the tagged fields at the end of a structure. Requests that are not flexible have none. */
  skipTaggedFields = (): void => {
    if (!this.flexible) return;
    for (let count = this.varuint(); count > 0; count -= 1) {
      this.varuint();
      this.advance(this.varuint());
    }
  };

  private varuint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.buffer.readUInt8(this.advance(1));
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return malformed('a varint is longer than five bytes');
  }

  private slice(length: number): Buffer | null {
    if (length === -1) return null;
    const from = this.advance(length);
    return this.buffer.subarray(from, from + length);
  }

  private advance(length: number): number {
    if (length < 0 || length > this.remaining) malformed(`expected ${length} bytes, ${this.remaining} are left`);
    this.position += length;
    return this.position - length;
  }
}

const malformed = (reason: string): never => {
  throw new MalformedRequest(reason);
};

const MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** The 64-bit integer as a number, clamped to the safe integers. No valid offset or timestamp exceeds them. */
export const safeInteger = (value: bigint): number => Number(value > MAX ? MAX : value < -MAX ? -MAX : value);
