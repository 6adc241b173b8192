import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { readAccountKey } from './account-key.ts';
import { bitcoinAddress, evmAddress } from './deposit-network.ts';

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

test('derives the addresses of the BIP84 test vectors', () => {
  const account = readAccountKey(BIP84_ZPUB);
  expect(account).toMatchObject({ form: 'zpub', depth: 3 });
  expect([0, 1].map((index) => bitcoinAddress(account.receiving(index), 'main'))).toEqual([
    'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g',
  ]);
});

test('derives the public keys that belong to the private keys', () => {
  const owner = HDKey.fromMasterSeed(SEED).derive("m/44'/60'/0'");
  const account = readAccountKey(owner.publicExtendedKey);
  expect(account.fingerprint).toBe(owner.fingerprint.toString(16).padStart(8, '0'));
  for (let index = 0; index < 20; index += 1) {
    expect(account.receiving(index)).toEqual(owner.derive(`m/0/${index}`).publicKey);
  }
});

test('an EVM address has the checksum of EIP-55', () => {
  const account = readAccountKey(HDKey.fromMasterSeed(SEED).derive("m/44'/60'/0'").publicExtendedKey);
  expect(evmAddress(account.receiving(0))).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
});

test.each([BIP32_XPRV, BIP84_ZPRV])('refuses a private key without repeating it: %s', (key) => {
  const read = () => readAccountKey(key);
  expect(read).toThrow(/is a private key/);
  expect(read).not.toThrow(key);
});

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
});
