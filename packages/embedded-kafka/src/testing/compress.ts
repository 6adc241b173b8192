import { gzipSync } from 'node:zlib';
import { compress } from 'snappyjs';

const JAVA_HEADER = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0, 0, 0, 0, 1, 0, 0, 0, 1]);
/** An LZ4 frame with independent blocks of at most 64 KB: the magic number, the flags and their checksum. */
const LZ4_HEADER = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
const LZ4_UNCOMPRESSED = 0x80000000;
/** A zstd frame of a single segment: the magic number and the descriptor. The size of the content follows. */
const ZSTD_HEADER = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0]);
const ZSTD_LAST_RAW_BLOCK = 0b001;

const uint32 = (value: number, littleEndian: boolean): Buffer => {
  const bytes = Buffer.alloc(4);
  if (littleEndian) bytes.writeUInt32LE(value);
  else bytes.writeUInt32BE(value);
  return bytes;
};

/** The codecs of record batches. LZ4 and zstd frames hold up to 64 KB as it is, which every reader accepts. */
export const CODECS = {
  gzip: { attributes: 1, compress: (bytes: Buffer): Buffer => gzipSync(bytes) },
  snappy: { attributes: 2, compress: (bytes: Buffer): Buffer => Buffer.from(compress(bytes)) },
  'snappy of Java': {
    attributes: 2,
    compress: (bytes: Buffer): Buffer => {
      const block = Buffer.from(compress(bytes));
      return Buffer.concat([JAVA_HEADER, uint32(block.length, false), block]);
    },
  },
  lz4: {
    attributes: 3,
    compress: (bytes: Buffer): Buffer =>
      Buffer.concat([LZ4_HEADER, uint32(bytes.length + LZ4_UNCOMPRESSED, true), bytes, uint32(0, true)]),
  },
  zstd: {
    attributes: 4,
    compress: (bytes: Buffer): Buffer =>
      Buffer.concat([
        ZSTD_HEADER,
        uint32(bytes.length, true),
        uint32((bytes.length << 3) | ZSTD_LAST_RAW_BLOCK, true).subarray(0, 3),
        bytes,
      ]),
  },
};
