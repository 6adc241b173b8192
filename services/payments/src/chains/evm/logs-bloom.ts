import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Log } from './answers.ts';

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
