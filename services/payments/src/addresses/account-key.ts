import { createHash } from 'node:crypto';
import { spendingSecretIn } from '@cpg/assets';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';
import { BIP32Factory, type BIP32Interface } from 'bip32';
import * as secp256k1 from 'tiny-secp256k1';
import { RECEIVING_BRANCH } from '../payables/payable.ts';

export const bip32 = BIP32Factory(secp256k1);

/** The extended public key of an account: it derives addresses and cannot spend. */
export interface AccountKey {
  /** Prefix of the key as configured. */
  readonly form: ExtendedKeyForm;
  /** The key as an xpub, which every BIP32 library reads. */
  readonly xpub: string;
  /** BIP32 fingerprint, 8 hex digits. Unlike the key, it may be shown in logs and responses. */
  readonly fingerprint: string;
  /** Levels below the master key: 3 for an account by BIP44 and BIP84. */
  readonly depth: number;
  /** The public key at `0/index`. Takes about 0.2 ms. */
  readonly receiving: (index: number) => PublicKey;
}

/** A secp256k1 point in compressed form, 33 bytes. Source: SEC 1, 2.3.3. */
export type PublicKey = Uint8Array;

export type ExtendedKeyForm = 'xpub' | 'zpub' | 'tpub' | 'vpub';

const XPUB_VERSION = 0x0488b21e;

// Version bytes. Source: SLIP-132.
const ACCEPTED: ReadonlyMap<number, ExtendedKeyForm> = new Map([
  [XPUB_VERSION, 'xpub'],
  [0x04b24746, 'zpub'],
  [0x043587cf, 'tpub'],
  [0x045f1cf6, 'vpub'],
]);
const PRIVATE = new Set([
  0x0488ade4, 0x04b2430c, 0x049d7878, 0x04358394, 0x045f18bc, 0x044a4e28, 0x0295b005, 0x02aa7a99, 0x024285b5,
  0x02575048,
]);

const EXTENDED_KEY_BYTES = 78;
const base58check = createBase58check(sha256);

/** Parses an extended public key (xpub, zpub, tpub, vpub). Throws RangeError for a private key or a seed phrase,
 *  for an unsupported form (ypub, multisig) and for other text. The message never contains the key. */
export const readAccountKey = (text: string): AccountKey => {
  const secret = spendingSecretIn(text);
  if (secret) throw spendable(secret);
  const bytes = decoded(text);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(0);
  if (PRIVATE.has(version)) throw spendable('private key');
  const form = ACCEPTED.get(version);
  if (!form) throw new RangeError('is an extended key of an unsupported form: configure an xpub, zpub, tpub or vpub');
  view.setUint32(0, XPUB_VERSION);
  const xpub = base58check.encode(bytes);
  const account = nodeOf(xpub);
  const branch = account.derive(RECEIVING_BRANCH);
  return {
    form,
    xpub,
    fingerprint: hex.encode(account.fingerprint),
    depth: account.depth,
    receiving: (index) => branch.derive(index).publicKey,
  };
};

const spendable = (secret: 'seed phrase' | 'private key'): RangeError =>
  new RangeError(
    `is a ${secret}, which can spend: configure the extended public key of the account, and remove the ${secret} from this machine`,
  );

/** Whether two xpubs derive the same addresses. Their texts can differ in what does not count, such as the depth. */
export const isSameKey = (one: string, other: string): boolean =>
  one === other || Buffer.from(firstKeyOf(one)).equals(firstKeyOf(other));

/** The public key of an xpub in compressed form, 33 bytes. Source: BIP32, "Serialization format". */
export const publicKeyOf = (xpub: string): Uint8Array => decoded(xpub).subarray(EXTENDED_KEY_BYTES - 33);

const firstKeyOf = (xpub: string): PublicKey => readAccountKey(xpub).receiving(0);

const decoded = (text: string): Uint8Array => {
  try {
    const bytes = base58check.decode(text);
    if (bytes.length === EXTENDED_KEY_BYTES) return bytes;
  } catch {
    // The message of the decoder would reveal part of the key.
  }
  throw new RangeError('is not an extended public key: its checksum does not match');
};

const nodeOf = (xpub: string): BIP32Interface => {
  try {
    return bip32.fromBase58(xpub);
  } catch (cause) {
    throw new RangeError('is not an extended public key: it contains no point on the curve', { cause });
  }
};

/** SHA-256 of an xpub, in hexadecimal. */
export const keyHashOf = (xpub: string): string => createHash('sha256').update(xpub).digest('hex');
