import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import { readPaymentsConfig } from './config.ts';

const ENV = {
  ENVIRONMENT: 'sandbox',
  METRICS_TOKEN: 'the-token-of-prometheus-in-the-tests',
  PAYMENTS_TO_ORDERS_TOKEN: 'the-token-of-payments-in-the-tests',
  GATEWAY_TO_PAYMENTS_TOKEN: 'the-token-of-the-gateway-in-tests',
  ORDERS_TO_PAYMENTS_TOKEN: 'the-token-of-orders-in-the-tests',
  WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN: 'the-token-of-dispatchers-in-tests',
  ADMIN_TO_PAYMENTS_TOKEN: 'the-token-of-admin-commands-in-tests',
  DATABASE_URL: 'postgres://127.0.0.1/test',
  EVENTSTORE_URL: 'esdb://127.0.0.1:2113',
  KAFKA_BROKERS: '127.0.0.1:9092',
  ORDERS_URL: 'http://127.0.0.1:4001',
};
// Keys of the public test mnemonic "abandon ... about": m/84'/0'/0' and m/44'/60'/0'.
const BITCOIN_ACCOUNT_KEY =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
const EVM_ACCOUNT_KEY =
  'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt';
const SECRET = randomBytes(32).toString('hex');
// Nobody else has it.
const OWN_KEY = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'").publicExtendedKey;

test('a sandbox defaults to test chains and test keys, with every currency', () => {
  const { networks } = readPaymentsConfig(ENV);
  expect(networks.flatMap(({ assets }) => assets.map(({ currency }) => currency)).sort()).toEqual([
    'BTC',
    'CAZ',
    'ETH',
    'USDC',
    'USDG',
    'USDT',
  ]);
  const [bitcoin, ethereum] = networks;
  expect(bitcoin!.addressAt(0)).toBe('tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl');
  expect(ethereum!.addressAt(0)).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
});

const PRODUCTION = { ...ENV, ENVIRONMENT: 'production', BITCOIN_XPUB: OWN_KEY, EVM_XPUB: OWN_KEY };
const NODES = '{"bitcoin":["http://127.0.0.1:8332"]}';

test('one variable switches on networks of the bundled table, and another one credits their bridged tokens', () => {
  const on = { NETWORKS: 'base,polygon', CHAIN_URLS: '{"base":["http://127.0.0.1:8545"]}' };
  const ofBridged = (more: NodeJS.ProcessEnv) =>
    readPaymentsConfig({ ...PRODUCTION, ...on, ...more }).networks.map(({ name, assets }) => [
      name,
      ...assets.flatMap(({ label, ifSent }) => (ifSent ? [label, ifSent] : [])),
    ]);
  expect(ofBridged({})).toEqual([
    ['base', 'USDbC', 'orphan'],
    ['polygon', 'USDC.e', 'orphan'],
  ]);
  expect(ofBridged({ BRIDGED_TOKENS: 'credit' })).toEqual([
    ['base', 'USDbC', 'credit'],
    ['polygon', 'USDC.e', 'credit'],
  ]);
  expect(() => ofBridged({ BRIDGED_TOKENS: 'refund' })).toThrow(/BRIDGED_TOKENS: must be credit or orphan/);
});

test('production requires account keys', () => {
  const production = { ...ENV, ENVIRONMENT: 'production', CHAIN_URLS: NODES };
  expect(() => readPaymentsConfig(production)).toThrow(/the account key of bitcoin is missing: set BITCOIN_XPUB$/);
  expect(() => readPaymentsConfig({ ...production, BITCOIN_XPUB: OWN_KEY })).toThrow(
    /the account key of ethereum is missing: set EVM_XPUB$/,
  );
  const { networks } = readPaymentsConfig({ ...PRODUCTION, CHAIN_URLS: NODES });
  expect(networks.map(({ chainId }) => chainId)).toEqual(['bip122:000000000019d6689c085ae165831e93', 'eip155:1']);
  expect(networks[0]!.addressAt(0)).toMatch(/^bc1q/);
});

test.each([
  ['bitcoin', { BITCOIN_XPUB: BITCOIN_ACCOUNT_KEY, EVM_XPUB: OWN_KEY }],
  ['ethereum', { BITCOIN_XPUB: OWN_KEY, EVM_XPUB: EVM_ACCOUNT_KEY }],
])('production refuses a published test key for %s', (network, keys) =>
  expect(() => readPaymentsConfig({ ...ENV, ENVIRONMENT: 'production', ...keys })).toThrow(
    `the account key of ${network} is published in the test vectors of BIP-39`,
  ),
);

test('refuses an account key of the wrong form and names the network in the error', () => {
  expect(() => readPaymentsConfig({ ...ENV, BITCOIN_XPUB: BITCOIN_ACCOUNT_KEY })).toThrow(
    /bitcoin-testnet is a zpub: it must be tpub or vpub/,
  );
  expect(() => readPaymentsConfig({ ...ENV, EVM_XPUB: BITCOIN_ACCOUNT_KEY })).toThrow(
    /ethereum-sepolia is a zpub: it must be xpub/,
  );
});

test.each([{}, { CHAIN_URLS: '' }, { CHAIN_URLS: '{}' }])('production does not start without any rail: %j', (urls) =>
  expect(() => readPaymentsConfig({ ...PRODUCTION, ...urls })).toThrow(
    'no payment would be seen: set CHAIN_URLS with nodes of bitcoin or ethereum, or PROVIDERS_FILE with an outside provider',
  ),
);

test('refuses nodes of a network that the file of assets does not have, and shows no URL', () => {
  const read = (CHAIN_URLS: string) => readPaymentsConfig({ ...ENV, CHAIN_URLS }).CHAIN_URLS;
  expect(read('{"bitcoin-testnet":["http://127.0.0.1:8332"]}')).toEqual({
    'bitcoin-testnet': ['http://127.0.0.1:8332'],
  });
  expect(() => read('{"dogecoin":["https://secret.example"]}')).toThrow(
    /^CHAIN_URLS names the network dogecoin, but the networks are bitcoin-testnet, ethereum-sepolia$/,
  );
  expect(() => read('https://secret.example')).toThrow(/CHAIN_URLS: must be JSON like (?!.*secret)/);
});

test('refuses a quorum that a network has too few nodes for', () => {
  const read = (CHAIN_QUORUM: string, nodes: number) => {
    const urls = Array.from({ length: nodes }, (_, index) => `http://127.0.0.1:${8332 + index}`);
    return readPaymentsConfig({ ...ENV, CHAIN_QUORUM, CHAIN_URLS: JSON.stringify({ 'bitcoin-testnet': urls }) });
  };
  expect(read('2', 2).CHAIN_QUORUM).toBe(2);
  expect(read('', 1).CHAIN_QUORUM).toBeUndefined();
  expect(() => read('2', 1)).toThrow(
    'CHAIN_QUORUM is 2, but CHAIN_URLS has 1 for bitcoin-testnet: add nodes, or lower CHAIN_QUORUM',
  );
});

describe('reading the configuration files', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'payments-config-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  const writeConfigFile = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };

  test('reports the variable of a missing file', () =>
    expect(() => readPaymentsConfig({ ...ENV, FEES_FILE: join(folder, 'none.json') })).toThrow(
      /^FEES_FILE .* cannot be read/,
    ));
  test('reports the path of an invalid value', () => {
    const FEES_FILE = writeConfigFile('fees.json', '{"version":"1","rails":{"gateway_pay":{"percent_bps":-1}}}');
    expect(() => readPaymentsConfig({ ...ENV, FEES_FILE })).toThrow(/rails.gateway_pay.percent_bps/);
  });
  test('production starts with an outside provider alone, if there is one in the file', () => {
    const acme = { name: 'acme', url: 'https://acme.example', currencies: ['USDC'], secrets: [SECRET] };
    const read = (providers: object[]) =>
      readPaymentsConfig({
        ...PRODUCTION,
        PROVIDERS_FILE: writeConfigFile('providers.json', JSON.stringify({ providers })),
      });
    expect(read([acme]).providers).toEqual([acme]);
    expect(() => read([])).toThrow('no payment would be seen');
    expect(() => read([{ ...acme, name: 'eip155' }])).toThrow(/providers.0.name: must not be .*eip155/);
  });
  test.each([
    ['the secret of another provider', [{}, { name: 'other' }], /two providers have the same secret/],
    ['a secret that anybody could guess', [{ secrets: ['0'.repeat(64)] }], /a secret of acme is not random/],
    ['a url without encryption', [{ url: 'http://acme.example' }], /the url of acme must use https/],
    ['a password in a url', [{ url: 'https://me:pass-word@acme.example' }], /must have no user name(?!.*pass-word)/s],
  ])('production refuses %s', (_, changes, fault) => {
    const acme = { name: 'acme', url: 'https://acme.example', currencies: ['USDC'], secrets: [SECRET] };
    const providers = changes.map((change) => ({ ...acme, ...change }));
    const PROVIDERS_FILE = writeConfigFile('providers.json', JSON.stringify({ providers }));
    expect(() => readPaymentsConfig({ ...PRODUCTION, PROVIDERS_FILE })).toThrow(fault);
  });
  test('shows nothing of a file that is no JSON', () => {
    const PROVIDERS_FILE = writeConfigFile('providers.json', '{"providers":[{"secrets":[do-not-show-me]}]}');
    const read = () => readPaymentsConfig({ ...PRODUCTION, PROVIDERS_FILE });
    expect(read).toThrow(/^PROVIDERS_FILE .* is invalid:\n {2}it is not valid JSON$/);
  });
  test('reads the file of assets', () => {
    const ASSETS_FILE = writeConfigFile('assets.json', '{"networks":[],"assets":[]}');
    expect(() => readPaymentsConfig({ ...ENV, ASSETS_FILE })).toThrow(/^ASSETS_FILE .* is invalid:\n {2}networks: /);
  });
});
