import fc from 'fast-check';
import { secretBox, webhookRow } from './secret-box.ts';

const OLD = "last year's key, which is long enough";
const ROW = webhookRow('whk_1');
const NEW = "this year's key, which is long enough";

const bytesOf = (box: string) => Buffer.from(box.split('.')[2]!, 'base64url');
const withBytes = (box: string, bytes: Buffer) =>
  [...box.split('.').slice(0, 2), bytes.toString('base64url')].join('.');

test('opens what it sealed', () => {
  const { seal, open } = secretBox([NEW]);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (plain) => expect(open(seal(plain, ROW), ROW)).toBe(plain)));
});

test('seals the same secret differently each time, and never in plain text', () => {
  const { seal } = secretBox([NEW]);
  expect(seal('whsec_secret', ROW)).not.toBe(seal('whsec_secret', ROW));
  expect(bytesOf(seal('whsec_secret', ROW)).includes('whsec_secret')).toBe(false);
});

test('detects any changed bit', () => {
  const { seal, open } = secretBox([NEW]);
  fc.assert(
    fc.property(fc.string(), fc.nat(), (plain, choice) => {
      const box = seal(plain, ROW);
      const bytes = bytesOf(box);
      const bit = choice % (bytes.length * 8);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => open(withBytes(box, bytes), ROW)).toThrow();
    }),
  );
});

test('detects a truncated box, also when only the tag is truncated', () => {
  const { seal, open } = secretBox([NEW]);
  for (const plain of ['', 'whsec_secret']) {
    const box = seal(plain, ROW);
    for (let length = 0; length < bytesOf(box).length; length += 1) {
      expect(() => open(withBytes(box, bytesOf(box).subarray(0, length)), ROW)).toThrow();
    }
  }
});

test.each(['', 'v1', 'plain text', 'v1.00000000.AAAA', 'v2.00000000.AAAA', 'v3.00000000.AAAA'])('rejects %j', (box) => {
  expect(() => secretBox([NEW]).open(box, ROW)).toThrow('no encryption key matches');
});

test('rejects a box of another version', () => {
  const { seal, open } = secretBox([NEW]);
  expect(() => open(seal('x', ROW).replace('v2.', 'v3.'), ROW)).toThrow('no encryption key matches');
  expect(() => open(seal('x', ROW).replace('v2.', 'v1.'), ROW)).toThrow('was changed');
});

test('during a key rotation seals with the new key and opens with both', () => {
  const beforeRotation = secretBox([OLD]);
  const duringRotation = secretBox([NEW, OLD]);
  const afterRotation = secretBox([NEW]);
  const old = beforeRotation.seal('whsec_secret', ROW);
  expect(duringRotation.open(old, ROW)).toBe('whsec_secret');
  expect(afterRotation.open(duringRotation.seal('whsec_secret', ROW), ROW)).toBe('whsec_secret');
  expect(() => afterRotation.open(old, ROW)).toThrow('no encryption key matches');
  expect(() => beforeRotation.open(duringRotation.seal('whsec_secret', ROW), ROW)).toThrow('no encryption key matches');
});

test('a box does not open in another row', () => {
  const { seal, open } = secretBox([NEW]);
  expect(() => open(seal('whsec_secret', ROW), webhookRow('whk_2'))).toThrow(
    'the secret in gateway.webhooks whk_2 was changed, or belongs to another row',
  );
});

test('opens a box of the first version, which names no row, and calls it outdated', () => {
  const sealed = 'v1.805b0061.BwcHBwcHBwcHBwcHFNi3YRKUfciAxG8TppPPpqsKq4YEap6lm8Js2A';
  const box = secretBox([OLD]);
  expect([box.open(sealed, ROW), box.isCurrent(sealed)]).toEqual(['whsec_secret', false]);
});

test('a start is refused when a key is missing, and says which', () => {
  const [old, fresh] = [secretBox([OLD]), secretBox([NEW])];
  const boxes = [old.seal('a', ROW), fresh.seal('b', ROW)];
  expect(() => secretBox([NEW, OLD]).requireKeysOf(boxes)).not.toThrow();
  expect(() => fresh.requireKeysOf(boxes)).toThrow(
    expect.objectContaining({
      name: 'FatalStartError',
      message: expect.stringMatching(new RegExp(`lacks .*${boxes[0]!.split('.')[1]}.* add it`)) as string,
    }) as Error,
  );
});

test('requires at least one key', () => expect(() => secretBox([])).toThrow(RangeError));
