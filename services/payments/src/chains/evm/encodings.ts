import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { z } from 'zod';
import { listOf } from '../nodes/answers.ts';
import { Bytes, QuantityText, type Receipt } from './answers.ts';
import { bloomOf } from './logs-bloom.ts';

/** A part of an answer of a node. */
export type Fields = Readonly<Record<string, unknown>>;
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

/** A receipt as the root of its block contains it. Other types than the known ones have the standard form, as a guess. */
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
