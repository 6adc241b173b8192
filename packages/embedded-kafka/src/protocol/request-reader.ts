/** The bytes are not what the protocol says: the connection they came on is closed. */
export class MalformedRequest extends Error {
  override readonly name = 'MalformedRequest';
}

/** Reads the protocol's primitive types from a request. `flexible` requests (KIP-482) have compact lengths and tagged fields.
 *  64-bit numbers beyond the safe integers are clamped to them: no offset or time of this broker gets there.
 *  Throws MalformedRequest where the bytes end early or a length makes no sense. */
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

  bytes = (): Buffer => this.nullableBytes() ?? malformed('bytes are null');

  nullableBytes = (): Buffer | null => this.slice(this.flexible ? this.varuint() - 1 : this.int32());

  array = <T>(item: () => T): T[] => this.nullableArray(item) ?? [];

  nullableArray = <T>(item: () => T): T[] | null => {
    const length = this.flexible ? this.varuint() - 1 : this.int32();
    if (length === -1) return null;
    // Every item takes at least one byte, so a made-up length cannot make this allocate.
    if (length < 0 || length > this.remaining) malformed(`an array of ${length}`);
    return Array.from({ length }, item);
  };

  /** Skips the tagged fields that end each structure of a flexible request: none of them means anything to this broker. */
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
    return malformed('a varint of more than five bytes');
  }

  private slice(length: number): Buffer | null {
    if (length === -1) return null;
    const from = this.advance(length);
    return this.buffer.subarray(from, from + length);
  }

  private advance(length: number): number {
    if (length < 0 || length > this.remaining) malformed(`${length} bytes wanted, ${this.remaining} left`);
    this.position += length;
    return this.position - length;
  }
}

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

export const safeInteger = (value: bigint): number =>
  Number(value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value);

const malformed = (what: string): never => {
  throw new MalformedRequest(what);
};
