import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import { NETWORK, p2wpkh, TEST_NETWORK } from '@scure/btc-signer';
import { pointCompress } from 'tiny-secp256k1';
import type { PublicKey } from './account-key.ts';

/** The native segwit address (P2WPKH, bech32) of a public key. Source: BIP141, BIP173. */
export const bitcoinAddress = (publicKey: PublicKey, chain: 'main' | 'test'): string =>
  p2wpkh(pointCompress(publicKey, true), chain === 'main' ? NETWORK : TEST_NETWORK).address;

/** The account address of a public key, with the mixed-case checksum of EIP-55. */
export const evmAddress = (publicKey: PublicKey): string =>
  checksummed(hex.encode(keccak_256(publicKey.subarray(1)).subarray(-20)));

/** Writes 40 hex digits as an address with the checksum of EIP-55. */
export const checksummed = (digits: string): string => {
  const lower = digits.toLowerCase();
  const hash = hex.encode(keccak_256(new TextEncoder().encode(lower)));
  return `0x${[...lower].map((digit, index) => (parseInt(hash[index]!, 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`;
};

export const isChecksummed = (address: string): boolean =>
  /^0x[0-9a-fA-F]{40}$/.test(address) && checksummed(address.slice(2)) === address;
