import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import fc from 'fast-check';
import { listRoot } from './encodings.ts';

const byLibrary = async (values: readonly Uint8Array[]): Promise<string> => {
  const trie = await createMPT();
  for (const [index, value] of values.entries()) await trie.put(RLP.encode(index), value);
  return `0x${Buffer.from(trie.root()).toString('hex')}`;
};

test('the root of a list is that of a trie with the same values', async () => {
  const value = fc.uint8Array({ minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 40 }), async (values) => {
      expect(listRoot(values)).toBe(await byLibrary(values));
    }),
    { numRuns: 200 },
  );
});

test.each([127, 128, 129, 255, 256, 257, 300])('the root of %i values is that of a trie', async (length) => {
  const values = Array.from({ length }, (_, index) => Buffer.from(`value ${index}`));
  expect(listRoot(values)).toBe(await byLibrary(values));
});
