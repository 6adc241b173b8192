import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { leafHash, rootOf } from './merkle.ts';
import { appendLeaves, parseTileName, type ReadTile, subtreesIn, tileSlice } from './tiles.ts';

const leavesOf = (count: number, first = 0): Buffer[] =>
  Array.from({ length: count }, (_, n) => leafHash(Buffer.from(`entry ${first + n}`)));

/** Tiles in memory, to which leaves are appended. */
const tree = () => {
  const tiles = new Map<string, Buffer>();
  const read: ReadTile = async (level, index) => tiles.get(`${level}/${index}`) ?? Buffer.alloc(0);
  let size = 0;
  return {
    tiles,
    root: () => rootOf(subtreesIn(read), size),
    append: async (count: number) => {
      const leaves = leavesOf(count, size);
      for (const { level, index, hashes } of await appendLeaves(read, size, leaves))
        tiles.set(`${level}/${index}`, hashes);
      size += count;
    },
  };
};

/** The root as RFC 6962, section 2.1 defines it. */
const definedRoot = (leaves: readonly Buffer[]): Buffer => {
  const hash = createHash('sha256');
  if (leaves.length === 0) return hash.digest();
  if (leaves.length === 1) return leaves[0]!;
  let left = 1;
  while (left * 2 < leaves.length) left *= 2;
  const [one, other] = [definedRoot(leaves.slice(0, left)), definedRoot(leaves.slice(left))];
  return hash
    .update(Buffer.from([1]))
    .update(one)
    .update(other)
    .digest();
};

test('a leaf is hashed apart from the nodes (RFC 6962)', () => {
  const empty = '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d';
  expect(leafHash(Buffer.alloc(0)).toString('hex')).toBe(empty);
});

test('the root is that of RFC 6962, however the leaves are appended', async () => {
  const counts = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(counts, async (batches) => {
      const { append, root } = tree();
      let size = 0;
      for (const count of batches) {
        await append(count);
        size += count;
        expect(await root()).toEqual(definedRoot(leavesOf(size)));
      }
    }),
    { numRuns: 30 },
  );
});

test('a tile has up to 256 hashes, and each full one is a hash of the level above', async () => {
  const { append, tiles, root } = tree();
  await append(65_536 + 257);
  const widths = (level: number) =>
    [...tiles].filter(([name]) => name.startsWith(`${level}/`)).map(([, hashes]) => hashes.length / 32);
  expect(widths(0)).toEqual([...Array.from({ length: 257 }, () => 256), 1]);
  expect(widths(1)).toEqual([256, 1]);
  expect(widths(2)).toEqual([1]);
  expect(await root()).toEqual(definedRoot(leavesOf(65_536 + 257)));
});

test('a tree whose tiles lack hashes has no root, and gets no leaves', async () => {
  const { append, tiles, root } = tree();
  await append(300);
  tiles.set('0/1', tiles.get('0/1')!.subarray(0, 32));
  await expect(root()).rejects.toThrow('the tiles lack hashes of level 0 from 296 on');
  await expect(append(1)).rejects.toThrow('tile 1 of level 0 lacks hashes');
});

test.each([
  ['0/000', { level: 0, index: 0, width: 256 }],
  ['1/255.p/17', { level: 1, index: 255, width: 17 }],
  ['0/x001/x234/067', { level: 0, index: 1_234_067, width: 256 }],
  ['63/x010/000.p/255', { level: 63, index: 10_000, width: 255 }],
])('%s is the name of a tile', (text, name) => {
  expect(parseTileName(text)).toEqual(name);
});

test.each([
  '',
  '0/0',
  '00/000',
  '64/000',
  '0/x000/001',
  '0/001/002',
  '0/000.p/0',
  '0/000.p/256',
  '0/000.p/01',
  '-1/000',
  '0/x9007199254740993/000',
  '0/x999/x999/x999/x999/x999/999',
  '0/000/',
])('"%s" is no name of a tile', (text) => {
  expect(parseTileName(text)).toBeNull();
});

test('a tile that has grown still has the hashes that it had', () => {
  const hashes = Buffer.concat(leavesOf(3));
  expect(tileSlice(hashes, { level: 0, index: 0, width: 2 })).toEqual(Buffer.concat(leavesOf(2)));
  expect(tileSlice(hashes, { level: 0, index: 0, width: 3 })).toEqual(hashes);
  expect(tileSlice(hashes, { level: 0, index: 0, width: 4 })).toBeNull();
});
