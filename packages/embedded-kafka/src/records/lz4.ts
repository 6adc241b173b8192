const MAGIC = 0x184d2204;
const VERSION = 0b0100_0000;
const [VERSION_MASK, BLOCK_CHECKSUMS, CONTENT_SIZE, DICTIONARY] = [0b1100_0000, 0b1_0000, 0b1000, 0b1];
const UNCOMPRESSED = 0x80000000;
const MIN_MATCH = 4;
/** A length with this value in the token continues in the next bytes. */
const LONG = 15;

/** The content of an LZ4 frame. Checksums are not verified: the checksum of the record batch covers them. Throws
 *  RangeError for malformed bytes, and for more than `maxBytes` bytes of content.
 *  Source: github.com/lz4/lz4, doc/lz4_Frame_format.md and doc/lz4_Block_format.md. */
export const decompressLz4 = (frame: Buffer, maxBytes: number): Buffer => {
  if (frame.readUInt32LE(0) !== MAGIC) throw new RangeError('not an LZ4 frame');
  const flags = frame.readUInt8(4);
  if ((flags & VERSION_MASK) !== VERSION || flags & DICTIONARY) throw new RangeError('unsupported LZ4 frame');
  const content = new Content(maxBytes);
  let at = 7 + (flags & CONTENT_SIZE ? 8 : 0);
  for (;;) {
    const size = frame.readUInt32LE(at);
    at += 4;
    if (size === 0) return content.toBuffer();
    const length = size % UNCOMPRESSED;
    if (at + length > frame.length) throw new RangeError('the LZ4 block is incomplete');
    const block = frame.subarray(at, at + length);
    if (size >= UNCOMPRESSED) content.append(block);
    else decompressBlock(block, content);
    at += length + (flags & BLOCK_CHECKSUMS ? 4 : 0);
  }
};

const decompressBlock = (block: Buffer, content: Content): void => {
  let at = 0;
  const lengthFrom = (start: number): number => {
    let length = start;
    if (start === LONG) {
      let more = 255;
      for (; more === 255; length += more) more = block.readUInt8(at++);
    }
    return length;
  };
  while (at < block.length) {
    const token = block.readUInt8(at++);
    const literals = lengthFrom(token >> 4);
    if (at + literals > block.length) throw new RangeError('the LZ4 block is incomplete');
    content.append(block.subarray(at, at + literals));
    at += literals;
    if (at === block.length) return; // the last sequence has literals only
    const distance = block.readUInt16LE(at);
    at += 2;
    content.repeat(distance, lengthFrom(token & LONG) + MIN_MATCH);
  }
};

/** The bytes decompressed so far. */
class Content {
  private bytes = Buffer.alloc(64 * 1024);
  private length = 0;
  private readonly maxBytes: number;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  append(more: Buffer): void {
    this.reserve(more.length);
    more.copy(this.bytes, this.length);
    this.length += more.length;
  }

  /** Appends `count` bytes, beginning with the one `distance` before the end. They may overlap. */
  repeat(distance: number, count: number): void {
    if (distance === 0 || distance > this.length) throw new RangeError('an LZ4 match is before the content');
    this.reserve(count);
    for (const end = this.length + count; this.length < end; this.length += 1)
      this.bytes[this.length] = this.bytes[this.length - distance]!;
  }

  toBuffer = (): Buffer => this.bytes.subarray(0, this.length);

  private reserve(count: number): void {
    const needed = this.length + count;
    if (needed > this.maxBytes) throw new RangeError(`the LZ4 frame has more than ${this.maxBytes} bytes`);
    if (needed > this.bytes.length)
      this.bytes = Buffer.concat([this.bytes.subarray(0, this.length)], Math.max(needed, 2 * this.bytes.length));
  }
}
