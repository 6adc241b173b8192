import { type Network, readAssets } from '@cpg/assets';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { readAccountKey } from './account-key.ts';
import { bitcoinAddress, depositNetworkOf, depositNetworksOf, evmAddress, withAccount } from './deposit-network.ts';

const sandbox = readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 });
const accounts = sandbox.networks.map(({ xpub }) => readAccountKey(xpub!));

test('an address depends on the account, the index and the kind of network, also when it is asked for again', () => {
  for (const network of sandbox.networks)
    for (const account of accounts)
      for (const index of [0, 1, 1, 0]) {
        const key = account.receiving(index);
        expect(withAccount(sandbox, network, account).addressAt(index)).toBe(
          network.kind === 'evm' ? evmAddress(key) : bitcoinAddress(key, network.chain),
        );
      }
});

// BIP84, "Test vectors": account 0 of the mnemonic "abandon ... about".
const BIP84_ZPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
// m/44'/60'/0' of the same mnemonic.
const EVM_XPUB =
  'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt';
const FORMS = { xpub: 0x0488b21e, zpub: 0x04b24746, tpub: 0x043587cf, vpub: 0x045f1cf6 };
type Form = keyof typeof FORMS;
const keyAs = (form: Form): string => {
  const base58check = createBase58check(sha256);
  const bytes = base58check.decode(BIP84_ZPUB);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, FORMS[form]);
  return base58check.encode(bytes);
};

type BitcoinNetwork = Extract<Network, { kind: 'bitcoin' }>;
const bitcoin = sandbox.networks.find((network): network is BitcoinNetwork => network.kind === 'bitcoin')!;
const evm = sandbox.networks.find((network) => network.kind === 'evm')!;
const NETWORKS: Record<string, Network> = {
  main: { ...bitcoin, chain: 'main' as const },
  test: { ...bitcoin, chain: 'test' as const },
  regtest: { ...bitcoin, chain: 'regtest' as const },
  evm,
};

test.each([
  ['main', BIP84_ZPUB, 0, 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
  ['main', BIP84_ZPUB, 1, 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g'],
  ['test', keyAs('vpub'), 0, 'tb1qcr8te4kr609gcawutmrza0j4xv80jy8zmfp6l0'],
  ['regtest', keyAs('vpub'), 0, 'bcrt1qcr8te4kr609gcawutmrza0j4xv80jy8zeqchgx'],
  ['evm', EVM_XPUB, 0, '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'],
])('on %s, the account %s has at index %i the address %s', (network, key, index, address) =>
  expect(depositNetworkOf(sandbox, NETWORKS[network]!, key).addressAt(index)).toBe(address),
);

test.each<[string, Form[]]>([
  ['main', ['xpub', 'zpub']],
  ['test', ['tpub', 'vpub']],
  ['regtest', ['tpub', 'vpub']],
  ['evm', ['xpub']],
])('on %s, an account key must be one of %j', (name, accepted) => {
  const network = NETWORKS[name]!;
  for (const form of Object.keys(FORMS) as Form[]) {
    const read = () => depositNetworkOf(sandbox, network, keyAs(form)).account.form;
    if (accepted.includes(form)) expect(read()).toBe(form);
    else expect(read).toThrow(`the account key of ${network.name} is a ${form}: it must be ${accepted.join(' or ')}`);
  }
});

test('a network has its own assets, and the key of the operator before that of the table', () => {
  const networks = depositNetworksOf(sandbox, { bitcoin: keyAs('vpub') });
  expect(networks.map(({ name, chainId }) => [name, chainId])).toEqual(
    sandbox.networks.map(({ name, chainId }) => [name, chainId]),
  );
  for (const { name, assets } of networks) {
    expect(assets.map(({ network }) => network.name)).toEqual(assets.map(() => name));
    expect(assets.length).toBeGreaterThan(0);
  }
  const keys = new Map(networks.map(({ name, account }) => [name, account.xpub]));
  expect(keys.get(bitcoin.name)).toBe(readAccountKey(keyAs('vpub')).xpub);
  expect(keys.get(evm.name)).toBe(readAccountKey(evm.xpub!).xpub);
});

test.each([
  ['is missing', undefined],
  ['is not an extended public key: its checksum does not match', 'not a key'],
])('names the network whose account key %s', (fault, key) => {
  const { xpub: _, ...network } = evm;
  expect(() => depositNetworkOf(sandbox, network, key)).toThrow(`the account key of ${evm.name} ${fault}`);
});
