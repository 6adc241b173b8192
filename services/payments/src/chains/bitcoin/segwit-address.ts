import { bech32 } from '@scure/base';

const PROGRAM_BYTES = 20;

/** Writes scripts of native segwit outputs (P2WPKH) as addresses, and returns null for other scripts: the only form of
 *  deposit addresses. Source: BIP173. */
export const addressOf =
  (prefix: string) =>
  (script: Buffer): string | null => {
    if (script.length !== PROGRAM_BYTES + 2 || script[0] !== 0 || script[1] !== PROGRAM_BYTES) return null;
    return bech32.encode(prefix, [0, ...bech32.toWords(script.subarray(2))]);
  };
