import { type Network, readAssets } from '@cpg/assets';
import { hasChecksum, recipientOn, transactionOn } from './recipient.ts';

const { networks } = readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 });
type Bitcoin = Extract<Network, { kind: 'bitcoin' }>;
const evm: Network = { ...networks.find(({ kind }) => kind === 'evm')!, name: 'base' };
const bitcoin = networks.find((network): network is Bitcoin => network.kind === 'bitcoin')!;
const main = { ...bitcoin, name: 'bitcoin', chain: 'main' } as Network;
const regtest = { ...bitcoin, name: 'regtest', chain: 'regtest' } as Network;

// EIP-55 and BIP173: their examples.
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SEGWIT = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const TAPROOT = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
const LEGACY = '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2';
const TESTNET = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const REGTEST = 'bcrt1qcr8te4kr609gcawutmrza0j4xv80jy8zeqchgx';

test.each([
  [evm, ADDRESS, ADDRESS],
  [evm, ADDRESS.toLowerCase(), ADDRESS],
  [evm, `0x${ADDRESS.slice(2).toUpperCase()}`, ADDRESS],
  [main, SEGWIT, SEGWIT],
  [main, SEGWIT.toUpperCase(), SEGWIT],
  [main, TAPROOT, TAPROOT],
  [main, LEGACY, LEGACY],
  [regtest, REGTEST, REGTEST],
])('an address on %j is read: %s', (network, text, address) => expect(recipientOn(network, text)).toBe(address));

test.each([
  [evm, ADDRESS.replace('aAe', 'aae'), 'has a wrong checksum'],
  [evm, ADDRESS.slice(0, -1), 'is not an address on base: it must be 0x and 40 hexadecimal digits'],
  [evm, SEGWIT, 'is an address on Bitcoin, but the network is base'],
  [evm, LEGACY.replace('BvB', 'BvC'), 'is not an address on base'],
  [evm, `0x${'0'.repeat(40)}`, 'is the zero address'],
  [main, SEGWIT.replace('t4', 't5'), 'is not an address on bitcoin: its checksum or its form is wrong'],
  [main, LEGACY.replace('BvB', 'BvC'), 'is not an address on bitcoin'],
  [main, ADDRESS, 'is an address on an EVM chain, but the network is bitcoin (Bitcoin)'],
  [main, ADDRESS.slice(0, -1), 'is not an address on bitcoin'],
  [main, REGTEST, 'is an address on a Bitcoin regtest, but the network is bitcoin (Bitcoin)'],
  [main, TESTNET, 'is an address on a Bitcoin testnet, but the network is bitcoin (Bitcoin)'],
  [regtest, SEGWIT, 'is an address on Bitcoin, but the network is regtest (a Bitcoin regtest)'],
])('an address on %j is refused: %s', (network, text, message) =>
  expect(() => recipientOn(network, text)).toThrow(message),
);

test.each([
  [evm, ADDRESS.slice(0, -1), 'form'],
  [evm, ADDRESS.replace('aAe', 'aae'), 'checksum'],
  [evm, `0x${'0'.repeat(40)}`, 'zero'],
  [evm, TESTNET, 'other_network'],
  [main, TESTNET, 'other_network'],
  [main, ADDRESS, 'other_network'],
  [main, SEGWIT.replace('t4', 't5'), 'form'],
])('a refused address on %j has the code of its fault: %s is %s', (network, text, fault) =>
  expect(() => recipientOn(network, text)).toThrow(expect.objectContaining({ fault })),
);

test.each([
  [evm, ADDRESS, true],
  [evm, ADDRESS.toLowerCase(), false],
  [evm, `0x${ADDRESS.slice(2).toUpperCase()}`, false],
  [evm, `0x${'1'.repeat(40)}`, false],
  [main, SEGWIT, true],
  [main, LEGACY, true],
])('whether an address on %j has a checksum: %s, %s', (network, text, expected) =>
  expect(hasChecksum(network, text)).toBe(expected),
);

test('a transaction has the form of its network', () => {
  const digits = 'AB'.repeat(32);
  expect(transactionOn(evm, `0x${digits}`)).toBe(`0x${digits.toLowerCase()}`);
  expect(transactionOn(main, digits)).toBe(digits.toLowerCase());
  expect(() => transactionOn(evm, digits)).toThrow(
    'is not a transaction on base: it must be 0x and 64 hexadecimal digits',
  );
  expect(() => transactionOn(main, `0x${digits}`)).toThrow('is not a transaction on bitcoin: it must be 64 hexa');
});
