import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { z } from 'zod';
import { listOf } from '../nodes/json-rpc.ts';
import { Bytes, type Fields, type Log, QuantityText, type Receipt } from './block.ts';

type Item = Uint8Array | Item[];

/** The forms in which blocks are hashed: RLP (Ethereum Yellow Paper, appendix B) in envelopes (EIP-2718). The functions
 *  throw ZodError where an answer lacks a part. */

const EMPTY = new Uint8Array();

const bytesOf = (fields: Fields, name: string): Uint8Array => Buffer.from(Bytes.parse(fields[name]).slice(2), 'hex');
const integerOf = (fields: Fields, name: string): Uint8Array => {
  const digits = QuantityText.parse(fields[name]).replace(/^0x0*/, '');
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
};
const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

const HEADER_START = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
];
const HEADER_NUMBERS = ['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp'];
const HEADER_END = ['extraData', 'mixHash', 'nonce'];
/** In the order of the forks: London, Shanghai, Cancun, Prague. A chain has a first part of them. */
const HEADER_FORKS: readonly (readonly [string, typeof bytesOf])[] = [
  ['baseFeePerGas', integerOf],
  ['withdrawalsRoot', bytesOf],
  ['blobGasUsed', integerOf],
  ['excessBlobGas', integerOf],
  ['parentBeaconBlockRoot', bytesOf],
  ['requestsHash', bytesOf],
];
/** Parts of answers that are not in the header. */
const BESIDE_HEADER = [
  ...['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'author'],
  ...['l1BlockNumber', 'sendCount', 'sendRoot', 'milliTimestamp'],
];
const HEADER_NAMES = new Set(
  [HEADER_START, HEADER_NUMBERS, HEADER_END, HEADER_FORKS.map(([name]) => name), BESIDE_HEADER].flat(),
);

/** The hash of a header from its parts. */
export const headerHash = (header: Fields): string => {
  const parts = [
    ...HEADER_START.map((name) => bytesOf(header, name)),
    ...HEADER_NUMBERS.map((name) => integerOf(header, name)),
    ...HEADER_END.map((name) => bytesOf(header, name)),
    ...HEADER_FORKS.filter(([name]) => !isAbsent(header[name])).map(([name, read]) => read(header, name)),
  ];
  return hashOf(RLP.encode(parts));
};

/** Whether a header has parts that `headerHash` does not know, for example those of a later fork. */
export const hasUnknownParts = (header: Fields): boolean =>
  Object.keys(header).some((name) => !HEADER_NAMES.has(name) && !isAbsent(header[name]));

const recipientOf = (fields: Fields): Uint8Array => (isAbsent(fields.to) ? EMPTY : bytesOf(fields, 'to'));
const parityOf = (fields: Fields): Uint8Array => integerOf(fields, isAbsent(fields.yParity) ? 'v' : 'yParity');
const signatureOf = (fields: Fields): Item[] => [parityOf(fields), integerOf(fields, 'r'), integerOf(fields, 's')];
const integersOf = (fields: Fields, ...names: readonly string[]): Item[] =>
  names.map((name) => integerOf(fields, name));
/** Some nodes leave an empty list out. */
const mapped = (fields: Fields, name: string, read: (item: Fields) => Item): Item[] =>
  listOf(z.looseObject({}))
    .parse(fields[name] ?? [])
    .map(read);
const hashesOf = (fields: Fields, name: string): Item[] =>
  z
    .array(z.unknown())
    .parse(fields[name])
    .map((hash) => bytesOf({ hash }, 'hash'));

const callOf = (fields: Fields): Item[] => [recipientOf(fields), integerOf(fields, 'value'), bytesOf(fields, 'input')];
const accessListOf = (fields: Fields): Item[] =>
  mapped(fields, 'accessList', (entry) => [bytesOf(entry, 'address'), hashesOf(entry, 'storageKeys')]);
const authorizationsOf = (fields: Fields): Item[] =>
  mapped(fields, 'authorizationList', (entry) => [
    integerOf(entry, 'chainId'),
    bytesOf(entry, 'address'),
    integerOf(entry, 'nonce'),
    ...signatureOf(entry),
  ]);
const FEES = ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas'];

/** By type. Sources: EIP-155, EIP-2930, EIP-1559, EIP-4844, EIP-7702, OP Stack specification "Deposits", and for 0x6a
 *  Arbitrum Nitro, "Internal transactions". */
const TRANSACTIONS: Readonly<Record<string, (fields: Fields) => Item[]>> = {
  '0x0': (fields) => [
    ...[...integersOf(fields, 'nonce', 'gasPrice', 'gas'), ...callOf(fields)],
    ...integersOf(fields, 'v', 'r', 's'),
  ],
  '0x1': (fields) => [
    ...[...integersOf(fields, 'chainId', 'nonce', 'gasPrice', 'gas'), ...callOf(fields)],
    ...[accessListOf(fields), ...signatureOf(fields)],
  ],
  '0x2': (fields) => [...integersOf(fields, ...FEES), ...callOf(fields), accessListOf(fields), ...signatureOf(fields)],
  '0x3': (fields) => [
    ...[...integersOf(fields, ...FEES), ...callOf(fields), accessListOf(fields)],
    ...[integerOf(fields, 'maxFeePerBlobGas'), hashesOf(fields, 'blobVersionedHashes'), ...signatureOf(fields)],
  ],
  '0x4': (fields) => [
    ...[...integersOf(fields, ...FEES), ...callOf(fields), accessListOf(fields)],
    ...[authorizationsOf(fields), ...signatureOf(fields)],
  ],
  '0x6a': (fields) => {
    // The hash says nothing about a value, because such a transaction moves none.
    z.literal('0x0').parse(fields.value);
    return [integerOf(fields, 'chainId'), bytesOf(fields, 'input')];
  },
  '0x7e': (fields) => [
    ...[bytesOf(fields, 'sourceHash'), bytesOf(fields, 'from'), recipientOf(fields)],
    ...[isAbsent(fields.mint) ? EMPTY : integerOf(fields, 'mint'), ...integersOf(fields, 'value', 'gas')],
    ...[fields.isSystemTx === true ? Uint8Array.of(1) : EMPTY, bytesOf(fields, 'input')],
  ],
};

const typeOf = (fields: { readonly type?: unknown }): string =>
  isAbsent(fields.type) ? '0x0' : QuantityText.parse(fields.type);

/** A transaction as its hash and the root of its block contain it; null for a type of unknown form. */
export const encodedTransaction = (fields: Fields): Uint8Array | null => {
  const type = typeOf(fields);
  const parts = TRANSACTIONS[type]?.(fields);
  return parts ? inEnvelope(type, parts) : null;
};

/** Receipts of these types have other parts than the standard ones, or none that is known. */
export const hasKnownForm = (receipt: Receipt): boolean => typeOf(receipt) in TRANSACTIONS;

/** A receipt as the root of its block contains it. Other types than the known ones have the standard form, as a
 *  guess. */
export const encodedReceipt = (receipt: Receipt): Uint8Array => {
  const fields = { ...receipt };
  const type = typeOf(fields);
  const logs = receipt.logs.map((log): Item[] => [
    bytesOf({ ...log }, 'address'),
    log.topics.map((topic) => Buffer.from(topic.slice(2), 'hex')),
    bytesOf({ ...log }, 'data'),
  ]);
  // Some nodes leave the filter out.
  const bloom = bytesOf({ logsBloom: receipt.logsBloom ?? bloomOf(receipt.logs) }, 'logsBloom');
  const parts: Item[] = [...integersOf(fields, 'status', 'cumulativeGasUsed'), bloom, logs];
  // Since Canyon. Before, the root does not contain the nonce. Source: OP Stack specification "Deposits".
  if (!isAbsent(receipt.depositReceiptVersion))
    parts.push(...integersOf(fields, 'depositNonce', 'depositReceiptVersion'));
  return inEnvelope(type, parts);
};

const inEnvelope = (type: string, parts: Item[]): Uint8Array => {
  const encoded = RLP.encode(parts);
  return type === '0x0' ? encoded : Buffer.concat([Uint8Array.of(Number(type)), encoded]);
};

export const hashOf = (bytes: Uint8Array): string => `0x${Buffer.from(keccak_256(bytes)).toString('hex')}`;

type Node = (Uint8Array | Node)[];
type Entry = readonly [path: readonly number[], value: Uint8Array];

const HASH_BYTES = 32;

/** The root of the Merkle Patricia trie of a list, as in the header of a block: each value is at the RLP of its index.
 *  A general trie hashes its nodes at every insertion, which takes five times as long. Source: Ethereum Yellow Paper,
 *  appendix D. */
export const listRoot = (values: readonly Uint8Array[]): string => {
  const entries = values.map((value, index): Entry => [nibblesOf(RLP.encode(index)), value]);
  return hashOf(RLP.encode(entries.length === 0 ? EMPTY : nodeOf(entries, 0)));
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

const BLOOM_BYTES = 256;
const BITS = 0x7_ff;

/** The three bits of an address or a topic. Source: Ethereum Yellow Paper, "Transaction Receipt". */
const bitsOf = (hex: string): number[] => {
  const hash = keccak_256(Buffer.from(hex.slice(2), 'hex'));
  return [0, 2, 4].map((at) => ((hash[at]! << 8) | hash[at + 1]!) & BITS);
};

/** Whether a bloom filter may contain all of some addresses and topics. If not, no log contains them. */
export const mayContain = (bloom: string, parts: readonly string[]): boolean => {
  const bytes = Buffer.from(bloom.slice(2), 'hex');
  const isSet = (bit: number) => (bytes[BLOOM_BYTES - 1 - (bit >> 3)]! & (1 << (bit & 7))) !== 0;
  return parts.every((part) => bitsOf(part).every(isSet));
};

/** The bloom filter of some logs. */
export const bloomOf = (logs: readonly Pick<Log, 'address' | 'topics'>[]): string => {
  const bytes = Buffer.alloc(BLOOM_BYTES);
  for (const part of new Set(logs.flatMap(({ address, topics }) => [address, ...topics])))
    for (const bit of bitsOf(part)) bytes[BLOOM_BYTES - 1 - (bit >> 3)]! |= 1 << (bit & 7);
  return `0x${bytes.toString('hex')}`;
};
