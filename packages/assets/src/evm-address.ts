import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';

/** Writes 40 hex digits as an address with the checksum of EIP-55. */
export const checksummed = (digits: string): string => {
  const lower = digits.toLowerCase();
  const hash = hex.encode(keccak_256(new TextEncoder().encode(lower)));
  return `0x${[...lower].map((digit, index) => (parseInt(hash[index]!, 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`;
};

/** Whether a text has the form of an EVM address. */
export const isEvmAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text);

/** Whether a text is an EVM address whose upper-case and lower-case letters match the checksum of EIP-55. */
export const isChecksummed = (address: string): boolean =>
  isEvmAddress(address) && checksummed(address.slice(2)) === address;
