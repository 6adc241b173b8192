const INITIAL_CHUNK_BYTES = 256;
/** Longer byte strings are not copied. */
const MAX_COPIED_BYTES = 1024;

/** Builds a response from the primitive types of the Kafka protocol. Long byte strings are not copied. */
export class ResponseWriter {
  private readonly finished: Buffer[] = [];
  private chunk = Buffer.allocUnsafe(INITIAL_CHUNK_BYTES);
  /** The part of `chunk` that is written but not yet in `finished`. */
  private start = 0;
  private end = 0;
  flexible = false;

  int8 = (value: number): this => this.put(1, (at) => this.chunk.writeInt8(value, at));
  int16 = (value: number): this => this.put(2, (at) => this.chunk.writeInt16BE(value, at));
  int32 = (value: number): this => this.put(4, (at) => this.chunk.writeInt32BE(value, at));
  int64 = (value: number): this => this.put(8, (at) => this.chunk.writeBigInt64BE(BigInt(value), at));
  boolean = (value: boolean): this => this.int8(value ? 1 : 0);

  string = (value: string | null): this => {
    const bytes = value === null ? null : Buffer.from(value, 'utf8');
    if (this.flexible) this.varuint((bytes?.length ?? -1) + 1);
    else this.int16(bytes?.length ?? -1);
    return bytes ? this.raw(bytes) : this;
  };

  bytes = (value: Buffer | null): this => this.joinedBytes(value && [value]);

  /** Writes one byte string that consists of `pieces`. Null writes a null byte string. */
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

  /** Writes an empty list of tagged fields if the response is flexible. */
  taggedFields = (): this => (this.flexible ? this.varuint(0) : this);

  /** The bytes of the response, as buffers in order. */
  toBuffers(): Buffer[] {
    this.finishChunk();
    return this.finished;
  }

  private raw = (bytes: Buffer): this => {
    if (bytes.length < MAX_COPIED_BYTES) return this.put(bytes.length, (at) => bytes.copy(this.chunk, at));
    this.finishChunk();
    this.finished.push(bytes);
    return this;
  };

  private varuint(value: number): this {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.byte((rest & 0x7f) | 0x80);
    return this.byte(rest);
  }

  private byte(value: number): this {
    return this.put(1, (at) => this.chunk.writeUInt8(value, at));
  }

  private put(length: number, write: (at: number) => unknown): this {
    if (this.end + length > this.chunk.length) {
      this.finishChunk();
      this.chunk = Buffer.allocUnsafe(Math.max(2 * this.chunk.length, length));
      this.start = 0;
      this.end = 0;
    }
    write(this.end);
    this.end += length;
    return this;
  }

  private finishChunk(): void {
    if (this.end > this.start) this.finished.push(this.chunk.subarray(this.start, this.end));
    this.start = this.end;
  }
}
