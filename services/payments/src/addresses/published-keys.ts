import { pbkdf2Sync } from 'node:crypto';
import type { BIP32Interface } from 'bip32';
import { bip32, publicKeyOf } from './account-key.ts';
import type { DepositNetwork } from './deposit-network.ts';

/** Throws RangeError if the private key of the account is public knowledge. */
export const refusePublishedKey = ({ name, account }: Pick<DepositNetwork, 'name' | 'account'>): void => {
  const source = publishedKeys().get(hex(publicKeyOf(account.xpub)));
  if (source !== undefined)
    throw new RangeError(`the account key of ${name} is published in ${source}, so anybody can spend its deposits`);
};

const BIP39 = 'the test vectors of BIP-39';

/** Recovery phrases that documents and tools show, without a passphrase. */
const MNEMONICS: readonly (readonly [source: string, mnemonic: string])[] = [
  // The sandbox has accounts of this one, as have the vectors of BIP-84, BIP-86 and SLIP-132.
  [BIP39, `${'abandon '.repeat(11)}about`],
  [BIP39, `${'abandon '.repeat(23)}art`],
  [BIP39, 'legal winner thank year wave sausage worth useful legal winner thank yellow'],
  [BIP39, 'letter advice cage absurd amount doctor acoustic avoid letter advice cage above'],
  [BIP39, `${'zoo '.repeat(11)}wrong`],
  ['Hardhat and Foundry', `${'test '.repeat(11)}junk`],
  ['Ganache', 'myth like bonus scare over problem client lizard pioneer submit female collect'],
  ['Truffle', 'candy maple cake sugar pudding cream honey rich smooth crumble sweet treat'],
  ['the tests of Trezor', 'all '.repeat(12).trim()],
];

/** Purpose and coin of what wallets derive: BIP-44, BIP-49, BIP-84 and BIP-86 for Bitcoin and its test chains, and
 *  BIP-44 for EVM chains. */
const COINS = [...[44, 49, 84, 86].flatMap((purpose) => [`${purpose}'/0'`, `${purpose}'/1'`]), "44'/60'"];
const ACCOUNTS = [0, 1, 2];

/** The seeds of the test vectors of BIP-32, each with its chain. */
const BIP32_VECTORS: readonly (readonly [seed: string, path: string])[] = [
  ['000102030405060708090a0b0c0d0e0f', "m/0'/1/2'/2/1000000000"],
  [
    'fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542',
    "m/0/2147483647'/1/2147483646'/2",
  ],
  [
    '4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4acba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be',
    "m/0'",
  ],
  ['3ddd5602285899a946114506157c7997e5444528f3003f6134712147db19b678', "m/0'/1'"],
];

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

let known: ReadonlyMap<string, string> | undefined;

/** Where each public key is published. Deriving all of them takes a fraction of a second, once. */
const publishedKeys = (): ReadonlyMap<string, string> => (known ??= derivePublishedKeys());

const derivePublishedKeys = (): Map<string, string> => {
  const keys = new Map<string, string>();
  const add = (source: string, key: BIP32Interface) => void keys.set(hex(key.publicKey), source);
  for (const [source, mnemonic] of MNEMONICS) {
    // Source: BIP-39, "From mnemonic to seed".
    const master = bip32.fromSeed(pbkdf2Sync(mnemonic, 'mnemonic', 2_048, 64, 'sha512'));
    add(source, master);
    for (const coin of COINS) {
      const parent = master.derivePath(`m/${coin}`);
      for (const index of ACCOUNTS) {
        const account = parent.deriveHardened(index);
        add(source, account);
        // Tools for EVM chains export the branch of receiving addresses.
        add(source, account.derive(0));
      }
    }
  }
  for (const [seed, path] of BIP32_VECTORS) {
    let key = bip32.fromSeed(Buffer.from(seed, 'hex'));
    add('the test vectors of BIP-32', key);
    for (const step of path.split('/').slice(1)) {
      key = key.derivePath(step);
      add('the test vectors of BIP-32', key);
    }
  }
  return keys;
};
