import { doubleSha256, merkleRoot } from './block.ts';

const [a, b, c, d, e, f] = [...'abcdef'].map((letter) => doubleSha256(Buffer.from(letter))) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer,
];
const parentOf = (...hashes: Buffer[]) => doubleSha256(Buffer.concat(hashes));

test('the root of one transaction is its hash', () => {
  expect(merkleRoot([a])).toEqual(a);
});

test('repeats the last hash of an odd number, on every level', () => {
  const left = parentOf(parentOf(a, b), parentOf(c, d));
  const last = parentOf(e, e);
  expect(merkleRoot([a, b, c, d, e])).toEqual(parentOf(left, parentOf(last, last)));
});

test.each([[[a, b, c, c]], [[a, b, c, d, e, f, e, f]], [[a, b, a, b]]])(
  'gives no root where transactions are repeated',
  (hashes) => {
    expect(() => merkleRoot(hashes)).toThrow('repeats transactions');
  },
);

// Block 100,000 of Bitcoin.
test('calculates the root of a real block', () => {
  const internal = (text: string) => Buffer.from(text, 'hex').reverse();
  const ids = [
    '8c14f0db3df150123e6f3dbbf30f8b955a8249b62ac1d1ff16284aefa3d06d87',
    'fff2525b8931402dd09222c50775608f75787bd2b87e56995a7bdd30f79702c4',
    '6359f0868171b1d194cbee1af2f16ea598ae8fad666d9b012c8ed2b79a236ec4',
    'e9a66845e05d5abc0ad04ec80f774a7e585c6e8db975962d069a522137b80c1d',
  ];
  expect(merkleRoot(ids.map(internal))).toEqual(
    internal('f3e94742aca4b5ef85488dc37c06c3282295ffec960994b2c0d5ac2a25a95766'),
  );
});
