import { gzipSync } from 'node:zlib';
import { CODECS } from '../testing/compress.ts';
import { decompress } from './decompress.ts';

const TEXT = Array.from({ length: 300 }, (_, n) => `line ${n % 7} of the text\n`).join('');
// Written by the tools of lz4 1.9.4 and zstd 1.5.4.
const LZ4 =
  'BCJNGGBAgk4AAADxBGxpbmUgMCBvZiB0aGUgdGV4dAoTAB4xEwAeMhMAHjMTAB40EwAeNRMAHjYTAA+FAP///////////////////////////7dQdGV4dAoAAAAA';
const LZ4_WITH_SIZE_AND_CHECKSUMS =
  'BCJNGHRAvU4AAADxBGxpbmUgMCBvZiB0aGUgdGV4dAoTAB4xEwAeMhMAHjMTAB40EwAeNRMAHjYTAA+FAP///////////////////////////7dQdGV4dAp1tXGIAAAAAPyOeGg=';
const ZSTD = 'KLUv/QRodQEAyGxpbmUgMCBvZiB0aGUgdGV4dAoxMjM0NTYIIJBj67yF6MFxHvOkdx6Li9baMK+1mFw=';

const samples: [string, number, Buffer][] = [
  ...Object.entries(CODECS).map(
    ([name, { attributes, compress }]) =>
      [name, attributes, compress(Buffer.from(TEXT))] satisfies [string, number, Buffer],
  ),
  ['compressed lz4', 3, Buffer.from(LZ4, 'base64')],
  ['lz4 with size and checksums', 3, Buffer.from(LZ4_WITH_SIZE_AND_CHECKSUMS, 'base64')],
  ['compressed zstd', 4, Buffer.from(ZSTD, 'base64')],
];

describe.each(samples)('%s', (_, code, compressed) => {
  test('is decompressed', () => {
    expect(decompress(code, compressed, TEXT.length).toString()).toBe(TEXT);
  });

  test('is refused beyond the limit', () => {
    expect(() => decompress(code, compressed, TEXT.length - 1)).toThrow();
  });

  test('is refused if its second half is missing', () => {
    expect(() => decompress(code, compressed.subarray(0, compressed.length >> 1), TEXT.length)).toThrow();
  });

  test('never hangs and never exceeds the limit where any byte is damaged', () => {
    for (let at = 0; at < Math.min(compressed.length, 150); at += 1) {
      for (const value of [0, 0x7f, 0xff]) {
        const damaged = Buffer.from(compressed);
        damaged[at] = value;
        expect(lengthOrZero(() => decompress(code, damaged, TEXT.length))).toBeLessThanOrEqual(TEXT.length);
      }
    }
  });
});

const lengthOrZero = (act: () => Buffer): number => {
  try {
    return act().length;
  } catch {
    return 0;
  }
};

test('a small gzip stream with a large content is refused', () => {
  expect(() => decompress(1, gzipSync(Buffer.alloc(10_000_000)), 1_000_000)).toThrow();
});

test('a zstd frame that announces a large window is refused', () => {
  const frame = Buffer.from(ZSTD, 'base64');
  frame[5] = 0xf8; // 2 TB
  expect(() => decompress(4, frame, 1_000_000)).toThrow('window');
});
