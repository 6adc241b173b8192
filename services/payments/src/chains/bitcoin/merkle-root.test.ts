import { createHash } from 'node:crypto';
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
