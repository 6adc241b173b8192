import { type BitcoinChain, checksummed } from '@cpg/assets';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import { NETWORK, p2wpkh, TEST_NETWORK } from '@scure/btc-signer';
import { pointCompress } from 'tiny-secp256k1';
import type { PublicKey } from './account-key.ts';

const NETWORKS: Record<BitcoinChain, typeof NETWORK> = {
  main: NETWORK,
  test: TEST_NETWORK,
  regtest: { ...TEST_NETWORK, bech32: 'bcrt' },
};

/** The native segwit address (P2WPKH, bech32) of a public key. Source: BIP141, BIP173. */
export const bitcoinAddress = (publicKey: PublicKey, chain: BitcoinChain): string =>
  p2wpkh(pointCompress(publicKey, true), NETWORKS[chain]).address;

/** The account address of a public key, with the mixed-case checksum of EIP-55. */
export const evmAddress = (publicKey: PublicKey): string =>
  checksummed(hex.encode(keccak_256(publicKey.subarray(1)).subarray(-20)));
