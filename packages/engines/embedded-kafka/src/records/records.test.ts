import { gzipSync } from 'node:zlib';
import { COMPRESSION, decompress } from './records.ts';

test('a small gzip stream with a large content is refused', () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1));
  expect(() => decompress(COMPRESSION.gzip, bomb)).toThrow();
});

test('a gzip stream whose second half is missing is refused', () => {
  const compressed = gzipSync(Buffer.from('a text\n'.repeat(300)));
  expect(() => decompress(COMPRESSION.gzip, compressed.subarray(0, compressed.length >> 1))).toThrow();
});
