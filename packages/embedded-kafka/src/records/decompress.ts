import { gunzipSync } from 'node:zlib';
import { Decompress } from 'fzstd';
import { uncompress } from 'snappyjs';
import { decompressLz4 } from './lz4.ts';

/** By the code in the attributes of a record batch. */
export const COMPRESSION = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;

/** The content of compressed records. Throws an Error for malformed bytes, for more than `maxBytes` bytes of content
 *  and for an unknown compression. */
export const decompress = (compression: number, bytes: Buffer, maxBytes: number): Buffer => {
  switch (compression) {
    case COMPRESSION.none:
      return bytes;
    case COMPRESSION.gzip:
      return gunzipSync(bytes, { maxOutputLength: maxBytes });
    case COMPRESSION.snappy:
      return decompressSnappy(bytes, maxBytes);
    case COMPRESSION.lz4:
      return decompressLz4(bytes, maxBytes);
    case COMPRESSION.zstd:
      return decompressZstd(bytes, maxBytes);
    default:
      throw new RangeError(`compression ${compression} is unknown`);
  }
};

/** The start of a snappy stream as Java writes it: after it and two versions, each block has its length before it.
 *  Other clients write a single block. */
const SNAPPY_JAVA = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0]);

const decompressSnappy = (bytes: Buffer, maxBytes: number): Buffer => {
  if (!bytes.subarray(0, SNAPPY_JAVA.length).equals(SNAPPY_JAVA)) return uncompress(bytes, maxBytes);
  const blocks: Buffer[] = [];
  let left = maxBytes;
  for (let at = SNAPPY_JAVA.length + 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    at += 4;
    if (at + length > bytes.length) throw new RangeError('a snappy block is incomplete');
    const block = uncompress(bytes.subarray(at, at + length), left);
    blocks.push(block);
    left -= block.length;
    at += length;
  }
  return Buffer.concat(blocks);
};

/** RFC 8878 asks decoders to support windows of 8 MB, however small the content is. */
const MIN_ZSTD_WINDOW_BYTES = 8 * 1024 * 1024;

const decompressZstd = (bytes: Buffer, maxBytes: number): Buffer => {
  if (zstdWindowBytes(bytes) > Math.max(maxBytes, MIN_ZSTD_WINDOW_BYTES))
    throw new RangeError('the zstd window is too large');
  const parts: Uint8Array[] = [];
  let left = maxBytes;
  const stream = new Decompress((part) => {
    left -= part.length;
    if (left < 0) throw new RangeError(`the zstd frame has more than ${maxBytes} bytes`);
    parts.push(part);
  });
  stream.push(bytes, true);
  return Buffer.concat(parts);
};

/** The memory that the first frame needs; `fzstd` allocates it. Source: RFC 8878, section 3.1.1.1. */
const zstdWindowBytes = (frame: Buffer): number => {
  const descriptor = frame.readUInt8(4);
  const singleSegment = (descriptor & 0x20) !== 0;
  if (!singleSegment) {
    const window = frame.readUInt8(5);
    return 2 ** (10 + (window >> 3)) * (1 + (window & 7) / 8);
  }
  const at = 5 + [0, 1, 2, 4][descriptor & 3]!;
  switch (descriptor >> 6) {
    case 0:
      return frame.readUInt8(at);
    case 1:
      return frame.readUInt16LE(at) + 256;
    case 2:
      return frame.readUInt32LE(at);
    default:
      return Number(frame.readBigUInt64LE(at));
  }
};
