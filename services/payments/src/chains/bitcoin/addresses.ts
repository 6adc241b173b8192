import type { BitcoinChain } from '@cpg/assets';
import { BITCOIN_ADDRESSES } from '../../addresses/deposit-network.ts';

/** Writes the script of an output as an address; null for a script that has none. */
export type ToAddress = (script: Buffer) => string | null;

const HASH_BYTES = 20;
const SCRIPT_HASH_BYTES = 32;

/** The forms of scripts that have an address: the bytes around the hash or key, which has a fixed length. Deposits come
 *  to the form `wpkh` alone; a refund may go to any. Sources: BIP13, BIP16, BIP141, BIP341. */
const FORMS = [
  { type: 'wpkh', before: [0x00, HASH_BYTES], length: HASH_BYTES, after: [] },
  { type: 'tr', before: [0x51, SCRIPT_HASH_BYTES], length: SCRIPT_HASH_BYTES, after: [] },
  { type: 'wsh', before: [0x00, SCRIPT_HASH_BYTES], length: SCRIPT_HASH_BYTES, after: [] },
  { type: 'pkh', before: [0x76, 0xa9, HASH_BYTES], length: HASH_BYTES, after: [0x88, 0xac] },
  { type: 'sh', before: [0xa9, HASH_BYTES], length: HASH_BYTES, after: [0x87] },
] as const;

/** Compares bytes in the place of `OutScript.decode` of the library, which proves that a key is on the curve: a
 *  millisecond for each of the thousands of outputs of a block. */
export const addressOf = (chain: BitcoinChain): ToAddress => {
  const { encode } = BITCOIN_ADDRESSES[chain];
  return (script) => {
    for (const { type, before, length, after } of FORMS) {
      if (script.length !== before.length + length + after.length) continue;
      const end = before.length + length;
      if (!before.every((byte, at) => script[at] === byte)) continue;
      if (!after.every((byte, at) => script[end + at] === byte)) continue;
      const payload = Uint8Array.from(script.subarray(before.length, end));
      return type === 'tr' ? encode({ type, pubkey: payload }) : encode({ type, hash: payload });
    }
    return null;
  };
};
