import fc from 'fast-check';
import { TRANSFER_TOPIC } from './block.ts';
import { bloomOf, mayContain } from './encodings.ts';

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((part) => `0x${Buffer.from(part).toString('hex')}`);
const log = fc.record({ address: hex(20), topics: fc.array(hex(32), { maxLength: 4 }) });

test('the filter of some logs may contain each of them', () => {
  fc.assert(
    fc.property(fc.array(log, { maxLength: 20 }), (logs) => {
      const bloom = bloomOf(logs);
      expect(logs.every(({ address, topics }) => mayContain(bloom, [address, ...topics]))).toBe(true);
    }),
  );
});

test('an empty filter contains nothing', () => {
  expect(mayContain(bloomOf([]), [TRANSFER_TOPIC])).toBe(false);
});

test('sets the bits that the example of a published block has', () => {
  // Arbitrum One 511882413 moved no tokens of this contract (bridged USDC), and has Transfer events.
  const bloom =
    '0x00001000000000000000000008000000000000000004000000000000000000000000000000000000000080000000000000080201000020100000000000000000000000000200000840000408000000000000000010000040002000000000000000800000000000000000000004100000000000000000000000000012000800000000000000000000000000000001000000000400000000000000001000000000000000000000000000000000000004000000000200000000008000000000000000002002000040200000000000000000000000000000000000000000000000000000200000000000000000000000200000000000000000000000000020000000';
  expect(mayContain(bloom, [TRANSFER_TOPIC])).toBe(true);
  expect(mayContain(bloom, ['0xff970a61a04b1ca14834a43f5de4533ebddb5cc8'])).toBe(false);
});
