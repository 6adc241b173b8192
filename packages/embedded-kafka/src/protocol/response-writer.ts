const FIRST_BYTES = 256;
const BY_REFERENCE = 1024;

/** Builds a response of the protocol's primitive types. Long byte strings are kept by reference, not copied. */
export class ResponseWriter {
  private readonly done: Buffer[] = [];
  private current = Buffer.allocUnsafe(FIRST_BYTES);
  private start = 0;
  private end = 0;
  flexible = false;

  int8 = (value: number): this => this.put(1, (at) => this.current.writeInt8(value, at));
  int16 = (value: number): this => this.put(2, (at) => this.current.writeInt16BE(value, at));
  int32 = (value: number): this => this.put(4, (at) => this.current.writeInt32BE(value, at));
  int64 = (value: number): this => this.put(8, (at) => this.current.writeBigInt64BE(BigInt(value), at));
  boolean = (value: boolean): this => this.int8(value ? 1 : 0);

  string = (value: string | null): this => {
    const bytes = value === null ? null : Buffer.from(value, 'utf8');
    if (this.flexible) this.varuint((bytes?.length ?? -1) + 1);
    else this.int16(bytes?.length ?? -1);
    return bytes ? this.raw(bytes) : this;
  };

  bytes = (value: Buffer | null): this => this.joinedBytes(value && [value]);

  /** One byte string that is made of several pieces. */
  joinedBytes = (pieces: readonly Buffer[] | null): this => {
    const length = pieces === null ? -1 : pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (this.flexible) this.varuint(length + 1);
    else this.int32(length);
    pieces?.forEach(this.raw);
    return this;
  };

  array = <T>(items: readonly T[] | null, item: (value: T) => void): this => {
    if (this.flexible) this.varuint((items?.length ?? -1) + 1);
    else this.int32(items?.length ?? -1);
    items?.forEach((value) => item(value));
    return this;
  };

  /** No tagged fields, where the response has room for them. */
  taggedFields = (): this => (this.flexible ? this.varuint(0) : this);

  /** What was written so far, in order. */
  toBuffers(): Buffer[] {
    this.seal();
    return this.done;
  }

  private raw = (bytes: Buffer): this => {
    if (bytes.length < BY_REFERENCE) return this.put(bytes.length, (at) => bytes.copy(this.current, at));
    this.seal();
    this.done.push(bytes);
    return this;
  };

  private varuint(value: number): this {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.byte((rest & 0x7f) | 0x80);
    return this.byte(rest);
  }

  private byte(value: number): this {
    return this.put(1, (at) => this.current.writeUInt8(value, at));
  }

  private put(length: number, write: (at: number) => unknown): this {
    if (this.end + length > this.current.length) {
      this.seal();
      this.current = Buffer.allocUnsafe(Math.max(2 * this.current.length, length));
      this.start = 0;
      this.end = 0;
    }
    write(this.end);
    this.end += length;
    return this;
  }

  private seal(): void {
    if (this.end > this.start) this.done.push(this.current.subarray(this.start, this.end));
    this.start = this.end;
  }
}
