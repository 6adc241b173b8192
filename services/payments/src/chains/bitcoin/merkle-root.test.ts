import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { type MerkleRoots, merkleRoots } from './merkle-root.ts';

let roots: MerkleRoots;
beforeEach(() => void (roots = merkleRoots()));
afterEach(() => roots.close());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const hashOf = (...parts: Uint8Array[]) => sha256(sha256(Buffer.concat(parts)));
const idOf = (text: string) => hashOf(Buffer.from(text));
/** Transactions one after another in the bytes of a block. Only their ranges count here. */
const transactionsOf = (texts: string[]) => {
  const joined = texts.join('');
  const bytes = Buffer.from(new TextEncoder().encode(joined).slice().buffer);
  const at = (text: string) => ({ start: joined.indexOf(text), outputs: 0, end: joined.indexOf(text) + text.length });
  return { bytes, transactions: texts.map(at) };
};
const answerTo = (...texts: string[]) => {
  const { bytes, transactions } = transactionsOf(texts);
  return roots.of(bytes, transactions);
};
const rootOf = (...texts: string[]) => answerTo(...texts).then(({ root }) => root && Buffer.from(root));

test('the root of one transaction is its hash', async () => {
  expect(await rootOf('one')).toEqual(idOf('one'));
});

test('repeats the last hash of an odd number, on every level', async () => {
  const left = hashOf(hashOf(idOf('a'), idOf('b')), hashOf(idOf('c'), idOf('d')));
  const last = hashOf(idOf('e'), idOf('e'));
  expect(await rootOf('a', 'b', 'c', 'd', 'e')).toEqual(hashOf(left, hashOf(last, last)));
});

test('gives no root where transactions are repeated', async () => {
  expect(await rootOf('a', 'b', 'c', 'c')).toBeNull();
  expect(await rootOf('a', 'b', 'c', 'd', 'e', 'f', 'e', 'f')).toBeNull();
  expect(await rootOf('a', 'b', 'a', 'b')).toBeNull();
});

/** Calculates a root with Node.js, hash by hash. */
const expectedRoot = (messages: readonly Buffer[]): Buffer => {
  let level = messages.map((message) => hashOf(message));
  while (level.length > 1)
    level = level.flatMap((left, at) => (at % 2 === 0 ? [hashOf(left, level[at + 1] ?? left)] : []));
  return level[0]!;
};

test('hashes transactions of each length, in any number', async () => {
  const lengths = Array.from({ length: 270 }, (_, index) => (index * 7) % 270);
  for (const count of [1, 2, 3, 4, 5, 8, 9, 31, 270]) {
    const messages = lengths.slice(0, count).map((length) => randomBytes(length));
    const joined = Buffer.concat(messages);
    const ends = messages.map((_, index) => Buffer.concat(messages.slice(0, index + 1)).length);
    const transactions = messages.map(({ length }, index) => ({
      start: ends[index]! - length,
      outputs: 0,
      end: ends[index]!,
    }));
    const { root } = await roots.of(
      Buffer.from(joined.buffer.slice(joined.byteOffset, joined.byteOffset + joined.length)),
      transactions,
    );
    expect(Buffer.from(root!)).toEqual(expectedRoot(messages));
  }
});

test('hashes a transaction of a megabyte', async () => {
  const message = Buffer.alloc(1_000_003, 0xa5);
  const { root } = await roots.of(Buffer.from(new Uint8Array(message).buffer), [
    { start: 0, outputs: 0, end: message.length },
  ]);
  expect(Buffer.from(root!)).toEqual(hashOf(message));
});

test('takes the bytes and gives them back', async () => {
  const { bytes, transactions } = transactionsOf(['one', 'two']);
  const answer = roots.of(bytes, transactions);
  expect(bytes).toHaveLength(0);
  expect((await answer).bytes).toEqual(Buffer.from('onetwo'));
});

test('answers questions that were asked at once in their order', async () => {
  const texts = ['first', 'second', 'third'];
  expect(await Promise.all(texts.map((text) => rootOf(text)))).toEqual(texts.map(idOf));
});

test('a question fails when the thread ends, and the next one starts another thread', async () => {
  const asked = rootOf('one');
  await Promise.all([expect(asked).rejects.toThrow('the thread of Merkle roots ended'), roots.close()]);
  expect(await rootOf('two')).toEqual(idOf('two'));
});

test('hashes on a processor without vectors', () => {
  const lanes = new URL('./sha256-lanes.mjs', import.meta.url).href;
  const code = `
    const { begin, block, compress, endAfterOneBlock, state, LANES } = await import('${lanes}');
    block.forEach((_, index) => (block[index] = 0x9e3779b1 * (index + 1)));
    begin();
    compress();
    endAfterOneBlock();
    console.log(JSON.stringify(Array.from(state, (word) => word.toString(16).padStart(8, '0'))));`;
  const stateWith = (...flags: string[]) =>
    JSON.parse(execFileSync(process.execPath, [...flags, '--input-type=module', '-e', code]).toString()) as string[];
  const expected = stateWith();
  expect(stateWith('--no-enable-sse4-1')).toEqual(expected);
  const ofLane = (lane: number) =>
    sha256(
      Buffer.from(Uint32Array.from({ length: 16 }, (_, word) => 0x9e3779b1 * (word * 4 + lane + 1)).buffer).swap32(),
    );
  for (const lane of [0, 1, 2, 3])
    expect(expected.filter((_, index) => index % 4 === lane).join('')).toBe(ofLane(lane).toString('hex'));
});
