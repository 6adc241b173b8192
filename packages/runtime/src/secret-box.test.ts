import fc from 'fast-check';
import { secretBox } from './secret-box.ts';

const OLD = 'a key of the year before, long enough';
const NEW = 'a key of this year, which is long too';

const bytesOf = (box: string) => Buffer.from(box.split('.')[2]!, 'base64url');
const withBytes = (box: string, bytes: Buffer) =>
  [...box.split('.').slice(0, 2), bytes.toString('base64url')].join('.');

test('what was sealed is opened', () => {
  const { seal, open } = secretBox([NEW]);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (plain) => expect(open(seal(plain))).toBe(plain)));
});

test('the same secret is sealed differently each time, and not in the clear', () => {
  const { seal } = secretBox([NEW]);
  expect(seal('whsec_secret')).not.toBe(seal('whsec_secret'));
  expect(bytesOf(seal('whsec_secret')).includes('whsec_secret')).toBe(false);
});

test('a bit that was changed anywhere is noticed', () => {
  const { seal, open } = secretBox([NEW]);
  fc.assert(
    fc.property(fc.string(), fc.nat(), (plain, choice) => {
      const box = seal(plain);
      const bytes = bytesOf(box);
      const bit = choice % (bytes.length * 8);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => open(withBytes(box, bytes))).toThrow();
    }),
  );
});

test('a box that was cut anywhere is noticed, inside its tag too', () => {
  const { seal, open } = secretBox([NEW]);
  for (const plain of ['', 'whsec_secret']) {
    const box = seal(plain);
    for (let length = 0; length < bytesOf(box).length; length += 1) {
      expect(() => open(withBytes(box, bytesOf(box).subarray(0, length)))).toThrow();
    }
  }
});

test.each(['', 'v1', 'plain text', 'v1.00000000.AAAA', 'v2.00000000.AAAA'])('%j is no box', (box) => {
  expect(() => secretBox([NEW]).open(box)).toThrow('no key on the ring');
});

test('a box of another version is not opened', () => {
  const { seal, open } = secretBox([NEW]);
  expect(() => open(seal('x').replace('v1.', 'v2.'))).toThrow('no key on the ring');
});

test('a key is rotated by putting a new one in front: it seals, and both open', () => {
  const before = secretBox([OLD]);
  const during = secretBox([NEW, OLD]);
  const after = secretBox([NEW]);
  const old = before.seal('whsec_secret');
  expect(during.open(old)).toBe('whsec_secret');
  expect(after.open(during.seal('whsec_secret'))).toBe('whsec_secret');
  expect(() => after.open(old)).toThrow('no key on the ring');
  expect(() => before.open(during.seal('whsec_secret'))).toThrow('no key on the ring');
});

test('without a key nothing can be sealed', () => expect(() => secretBox([])).toThrow(RangeError));
