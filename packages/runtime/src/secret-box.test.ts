import fc from 'fast-check';
import { secretBox } from './secret-box.ts';

const OLD = "last year's key, which is long enough";
const NEW = "this year's key, which is long enough";

const bytesOf = (box: string) => Buffer.from(box.split('.')[2]!, 'base64url');
const withBytes = (box: string, bytes: Buffer) =>
  [...box.split('.').slice(0, 2), bytes.toString('base64url')].join('.');

test('opens what it sealed', () => {
  const { seal, open } = secretBox([NEW]);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (plain) => expect(open(seal(plain))).toBe(plain)));
});

test('seals the same secret differently each time, and never in plain text', () => {
  const { seal } = secretBox([NEW]);
  expect(seal('whsec_secret')).not.toBe(seal('whsec_secret'));
  expect(bytesOf(seal('whsec_secret')).includes('whsec_secret')).toBe(false);
});

test('detects any changed bit', () => {
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

test('detects a truncated box, also when only the tag is truncated', () => {
  const { seal, open } = secretBox([NEW]);
  for (const plain of ['', 'whsec_secret']) {
    const box = seal(plain);
    for (let length = 0; length < bytesOf(box).length; length += 1) {
      expect(() => open(withBytes(box, bytesOf(box).subarray(0, length)))).toThrow();
    }
  }
});

test.each(['', 'v1', 'plain text', 'v1.00000000.AAAA', 'v2.00000000.AAAA'])('rejects %j', (box) => {
  expect(() => secretBox([NEW]).open(box)).toThrow('no encryption key matches');
});

test('rejects a box of another version', () => {
  const { seal, open } = secretBox([NEW]);
  expect(() => open(seal('x').replace('v1.', 'v2.'))).toThrow('no encryption key matches');
});

test('during a key rotation seals with the new key and opens with both', () => {
  const beforeRotation = secretBox([OLD]);
  const duringRotation = secretBox([NEW, OLD]);
  const afterRotation = secretBox([NEW]);
  const old = beforeRotation.seal('whsec_secret');
  expect(duringRotation.open(old)).toBe('whsec_secret');
  expect(afterRotation.open(duringRotation.seal('whsec_secret'))).toBe('whsec_secret');
  expect(() => afterRotation.open(old)).toThrow('no encryption key matches');
  expect(() => beforeRotation.open(duringRotation.seal('whsec_secret'))).toThrow('no encryption key matches');
});

test('requires at least one key', () => expect(() => secretBox([])).toThrow(RangeError));
