import type { Watched } from '../chain-source.ts';
import { watchedKeys } from '../watched-keys.ts';

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const PROGRAM_BYTES = 20;

/** Writes scripts of native segwit outputs (P2WPKH) as addresses, and returns null for other scripts: the only form of
 *  deposit addresses. Faster than a general encoder, because a block has thousands of outputs. Source: BIP173. */
export const addressOf = (prefix: string): ((script: Buffer) => string | null) => {
  const start = polymodOfPrefix(prefix);
  return (script) => {
    if (script.length !== PROGRAM_BYTES + 2 || script[0] !== 0 || script[1] !== PROGRAM_BYTES) return null;
    let checksum = step(start, 0); // version 0
    let text = ALPHABET[0]!;
    let bits = 0;
    let waiting = 0;
    for (let at = 2; at < script.length; at += 1) {
      bits = ((bits << 8) | script[at]!) & 0xfff;
      waiting += 8;
      while (waiting >= 5) {
        waiting -= 5;
        const symbol = (bits >>> waiting) & 31;
        checksum = step(checksum, symbol);
        text += ALPHABET[symbol]!;
      }
    }
    for (let left = 0; left < 6; left += 1) checksum = step(checksum, 0);
    checksum ^= 1;
    for (let left = 5; left >= 0; left -= 1) text += ALPHABET[(checksum >>> (5 * left)) & 31]!;
    return `${prefix}1${text}`;
  };
};

const step = (checksum: number, symbol: number): number => {
  const top = checksum >>> 25;
  let next = ((checksum & 0x1ffffff) << 5) ^ symbol;
  for (let bit = 0; bit < 5; bit += 1) if ((top >>> bit) & 1) next ^= GENERATOR[bit]!;
  return next;
};

const polymodOfPrefix = (prefix: string): number => {
  const codes = [...prefix].map((character) => character.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)].reduce(step, 1);
};

/** Whether a script may pay a watched address: never wrongly false, rarely wrongly true. */
export type MayPay = (bytes: Buffer, script: number, scriptBytes: number) => boolean;

// Six symbols of five bits are the first 30 bits of a program: a set of small numbers.
const KEY_SYMBOLS = 6;

/** Filters scripts by the first bits of their programs. */
export const scriptFilter = (prefix: string): ((watched: Watched) => MayPay) => {
  const start = `${prefix}1${ALPHABET[0]!}`;
  const keysOf = watchedKeys((address) => (address.startsWith(start) ? keyOf(address, start.length) : null));
  return (watched) => {
    const keys = keysOf(watched);
    return (bytes, script, scriptBytes) =>
      scriptBytes === PROGRAM_BYTES + 2 &&
      bytes[script] === 0 &&
      bytes[script + 1] === PROGRAM_BYTES &&
      keys.has(bytes.readUInt32BE(script + 2) >>> 2);
  };
};

const keyOf = (address: string, offset: number): number => {
  let key = 0;
  for (let at = offset; at < offset + KEY_SYMBOLS; at += 1) key = key * 32 + ALPHABET.indexOf(address[at]!);
  return key;
};
