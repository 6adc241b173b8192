import { type BitcoinChain, checksummed } from '@cpg/assets';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import { Address, NETWORK, TEST_NETWORK } from '@scure/btc-signer';
import { hash160 } from '@scure/btc-signer/utils.js';
import type { PublicKey } from './account-key.ts';

const ADDRESSES: Record<BitcoinChain, ReturnType<typeof Address>> = {
  main: Address(NETWORK),
  test: Address(TEST_NETWORK),
  regtest: Address({ ...TEST_NETWORK, bech32: 'bcrt' }),
};

/** The native segwit address (P2WPKH, bech32) of a public key. Source: BIP141, BIP173.
 *  `p2wpkh` of the library takes ten times as long: it proves that the key is on the curve. */
export const bitcoinAddress = (publicKey: PublicKey, chain: BitcoinChain): string =>
  ADDRESSES[chain].encode({ type: 'wpkh', hash: hash160(publicKey) });

/** The account address of a public key, with the mixed-case checksum of EIP-55. */
export const evmAddress = (publicKey: PublicKey): string => {
  const [, ...coordinates] = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  return checksummed(hex.encode(keccak_256(Uint8Array.from(coordinates)).subarray(-20)));
};
