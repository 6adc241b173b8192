import { crc32c } from './crc32c.ts';

// Source: RFC 3720, appendix B.4, and the check value of CRC-32C in the catalogue of parametrised CRC algorithms.
test.each([
  ['32 zeros', Buffer.alloc(32), 0x8a9136aa],
  ['32 ones', Buffer.alloc(32, 0xff), 0x62a8ab43],
  ['32 ascending bytes', Buffer.from(Array.from({ length: 32 }, (_, n) => n)), 0x46dd794e],
  ['32 descending bytes', Buffer.from(Array.from({ length: 32 }, (_, n) => 31 - n)), 0x113fdb5c],
  ['the digits 1 to 9', Buffer.from('123456789'), 0xe3069283],
  ['no bytes', Buffer.alloc(0), 0],
])('the checksum of %s is the one of the standard', (_, bytes, expected) => {
  expect(crc32c(bytes)).toBe(expected);
});

test('bytes before the given index do not count', () => {
  expect(crc32c(Buffer.from('xyz123456789'), 3)).toBe(0xe3069283);
});
