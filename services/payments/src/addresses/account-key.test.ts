import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { keyHashOf, readAccountKey } from './account-key.ts';

// BIP84, "Test vectors": account 0 of the mnemonic "abandon ... about".
const BIP84_ZPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
const BIP84_ZPRV =
  'zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE';
// BIP32, "Test vector 1", chain m.
const BIP32_XPRV =
  'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi';

/** The seed of that mnemonic without a passphrase. Source: BIP39 reference vectors. */
const SEED = hex.decode(
  '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
);
const base58check = createBase58check(sha256);
const withVersion = (key: string, version: number) => {
  const bytes = base58check.decode(key);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, version);
  return base58check.encode(bytes);
};

test('derives the public keys that belong to the private keys', () => {
  const owner = HDKey.fromMasterSeed(SEED).derive("m/44'/60'/0'");
  const account = readAccountKey(owner.publicExtendedKey);
  expect(account.fingerprint).toBe(owner.fingerprint.toString(16).padStart(8, '0'));
  for (let index = 0; index < 20; index += 1) {
    expect(account.receiving(index)).toEqual(owner.derive(`m/0/${index}`).publicKey);
  }
});

test('warns of a seed phrase, and does not repeat it', () => {
  const read = () => readAccountKey(`${'abandon '.repeat(11)}about`);
  expect(read).toThrow(/^is a seed phrase, which can spend: configure the extended public key/);
  expect(read).not.toThrow('abandon');
});

test.each([BIP32_XPRV, BIP84_ZPRV])('refuses a private key without repeating it: %s', (key) => {
  const read = () => readAccountKey(key);
  expect(read).toThrow(/is a private key/);
  expect(read).not.toThrow(key);
});

// The version bytes of private keys. Source: SLIP-132.
test.each([
  0x0488ade4, 0x04b2430c, 0x049d7878, 0x04358394, 0x045f18bc, 0x044a4e28, 0x0295b005, 0x02aa7a99, 0x024285b5,
  0x02575048,
])('refuses a private key with the version %i', (version) =>
  expect(() => readAccountKey(withVersion(BIP84_ZPRV, version))).toThrow(/is a private key/),
);

test('a fingerprint has 8 digits, also if it begins with zeros', () => {
  const owner = HDKey.fromMasterSeed(SEED);
  const fingerprints = Array.from({ length: 64 }, (_, n) =>
    readAccountKey(owner.derive(`m/${n}`).publicExtendedKey),
  ).map(({ fingerprint }) => fingerprint);
  expect(fingerprints.filter((each) => each.startsWith('0')).length).toBeGreaterThan(0);
  for (const each of fingerprints) expect(each).toMatch(/^[0-9a-f]{8}$/);
});

test('the hash of a key is that of its text', () =>
  // printf abc | sha256sum
  expect(keyHashOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'));

test.each([
  ['a ypub, whose scripts are not supported', withVersion(BIP84_ZPUB, 0x049d7cb2), /unsupported form/],
  ['a key with a typing mistake', BIP84_ZPUB.replace('AijB', 'AijC'), /checksum/],
  ['text', 'not a key', /checksum/],
  ['an address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', /checksum/],
])('refuses %s', (_, text, message) => expect(() => readAccountKey(text)).toThrow(message));

test('all public forms of a key derive the same addresses', () => {
  const forms = [0x0488b21e, 0x04b24746, 0x043587cf, 0x045f1cf6].map((version) =>
    readAccountKey(withVersion(BIP84_ZPUB, version)),
  );
  expect(forms.map(({ form }) => form)).toEqual(['xpub', 'zpub', 'tpub', 'vpub']);
  expect(new Set(forms.map((account) => hex.encode(account.receiving(0)))).size).toBe(1);
  expect(forms.map(({ depth }) => depth)).toEqual([3, 3, 3, 3]);
});
