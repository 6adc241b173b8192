import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { readAssets } from '@cpg/assets';
import { HDKey } from '@scure/bip32';
import { readAccountKey } from './account-key.ts';
import { refusePublishedKey } from './published-keys.ts';

const refusalOf = (key: string): string => {
  try {
    refusePublishedKey({ name: 'ethereum', account: readAccountKey(key) });
    return '';
  } catch (error) {
    return (error as RangeError).message;
  }
};

// As the documents print them.
test.each([
  [
    'BIP-32, vector 1, m',
    'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8',
  ],
  [
    'BIP-32, vector 1, its last key',
    'xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy',
  ],
  [
    'BIP-32, vector 2, m',
    'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB',
  ],
  [
    'BIP-32, vector 3, m',
    'xpub661MyMwAqRbcEZVB4dScxMAdx6d4nFc9nvyvH3v4gJL378CSRZiYmhRoP7mBy6gSPSCYk6SzXPTf3ND1cZAceL7SfJ1Z3GC8vBgp2epUt13',
  ],
  [
    'BIP-32, vector 4, m',
    'xpub661MyMwAqRbcGczjuMoRm6dXaLDEhW1u34gKenbeYqAix21mdUKJyuyu5F1rzYGVxyL6tmgBUAEPrEz92mBXjByMRiJdba9wpnN37RLLAXa',
  ],
  [
    'BIP-84, account 0',
    'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs',
  ],
  [
    'BIP-86, account 0',
    'xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ',
  ],
])('refuses the key of %s', (_, key) =>
  expect(refusalOf(key)).toMatch(/^the account key of ethereum is published in the test vectors of BIP-(32|39), so /),
);

const masterOf = (phrase: string) => HDKey.fromMasterSeed(pbkdf2Sync(phrase, 'mnemonic', 2_048, 64, 'sha512'));
const refusalAt = (master: HDKey, path: string): string => refusalOf(master.derive(path).publicExtendedKey);

const ABANDON = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
test.each([
  ['the test vectors of BIP-39', ABANDON],
  ['the test vectors of BIP-39', `${ABANDON.replace('about', ABANDON.replace('about', 'abandon'))} art`],
  ['the test vectors of BIP-39', 'legal winner thank year wave sausage worth useful legal winner thank yellow'],
  ['the test vectors of BIP-39', 'letter advice cage absurd amount doctor acoustic avoid letter advice cage above'],
  ['the test vectors of BIP-39', 'zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong'],
  ['Hardhat and Foundry', 'test test test test test test test test test test test junk'],
  ['Ganache', 'myth like bonus scare over problem client lizard pioneer submit female collect'],
  ['Truffle', 'candy maple cake sugar pudding cream honey rich smooth crumble sweet treat'],
  ['the tests of Trezor', 'all all all all all all all all all all all all'],
])('refuses accounts of the phrase that is published in %s: %s', (source, phrase) =>
  expect(refusalAt(masterOf(phrase), "m/44'/60'/0'")).toContain(`is published in ${source}, `),
);

test('refuses a published phrase by each standard path, its first accounts and their receiving branches', () => {
  const master = masterOf(ABANDON);
  const coins = ["44'/60'", ...['44', '49', '84', '86'].flatMap((purpose) => [`${purpose}'/0'`, `${purpose}'/1'`])];
  const accounts = coins.flatMap((coin) => [0, 1, 2].map((account) => `m/${coin}/${account}'`));
  const paths = ['m', ...accounts.flatMap((account) => [account, `${account}/0`])];
  expect(paths.filter((path) => refusalAt(master, path) === '')).toEqual([]);
});

test('refuses the keys of the sandbox', () => {
  for (const { xpub } of readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 }).networks)
    expect(refusalOf(xpub!)).toMatch(/published/);
});

test('compares the point alone: another depth, chain code or prefix changes nothing', () => {
  const { publicKey } = HDKey.fromMasterSeed(Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex'));
  const disguised = new HDKey({ publicKey: publicKey!, chainCode: randomBytes(32), depth: 3, index: 7 });
  expect(refusalOf(disguised.publicExtendedKey)).toMatch(/BIP-32/);
});

test('accepts a key of a random seed', () => {
  const own = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'");
  expect(refusalOf(own.publicExtendedKey)).toBe('');
});
