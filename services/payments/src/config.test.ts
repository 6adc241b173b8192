import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPaymentsConfig } from './config.ts';

const ENV = {
  ENVIRONMENT: 'sandbox',
  INTERNAL_TOKEN: 'a-token-that-services-share-in-tests',
  DATABASE_URL: 'postgres://127.0.0.1/test',
  EVENTSTORE_URL: 'esdb://127.0.0.1:2113',
  KAFKA_BROKERS: '127.0.0.1:9092',
  ORDERS_URL: 'http://127.0.0.1:4001',
};
// Keys of the public test mnemonic "abandon ... about": m/84'/0'/0' and m/44'/60'/0'.
const ZPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
const XPUB =
  'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt';

test('a sandbox accepts deposits in every currency on test chains', () => {
  const { networks } = readPaymentsConfig(ENV);
  expect(networks.flatMap(({ assets }) => Object.keys(assets)).sort()).toEqual([
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

test('production requires account keys', () => {
  const production = { ...ENV, ENVIRONMENT: 'production' };
  expect(() => readPaymentsConfig(production)).toThrow(
    'the account key of bitcoin is missing: set BITCOIN_XPUB and EVM_XPUB',
  );
  const { networks } = readPaymentsConfig({ ...production, BITCOIN_XPUB: ZPUB, EVM_XPUB: XPUB });
  expect(networks.map(({ chainId }) => chainId)).toEqual(['bip122:000000000019d6689c085ae165831e93', 'eip155:1']);
  expect(networks[0]!.addressAt(0)).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu');
});

test('refuses a key of another chain and names the network', () => {
  expect(() => readPaymentsConfig({ ...ENV, BITCOIN_XPUB: ZPUB })).toThrow(
    /bitcoin-testnet is a zpub: it must be tpub or vpub/,
  );
  expect(() => readPaymentsConfig({ ...ENV, EVM_XPUB: ZPUB })).toThrow(/ethereum-sepolia is a zpub: it must be xpub/);
});

describe('a configuration file', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'payments-config-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  test('is named by its variable when it is missing', () =>
    expect(() => readPaymentsConfig({ ...ENV, FEES_FILE: join(folder, 'none.json') })).toThrow(
      /^FEES_FILE .* cannot be read/,
    ));
  test('is refused with the path of the invalid value', () => {
    const FEES_FILE = file('fees.json', '{"version":"1","rails":{"gateway_pay":{"percent_bps":-1}}}');
    expect(() => readPaymentsConfig({ ...ENV, FEES_FILE })).toThrow(/rails.gateway_pay.percent_bps/);
  });
  test('is refused when a contract address has a wrong checksum', () => {
    const contract = '0xdAC17F958D2ee523a2206206994597C13D831eC7';
    const networks = [
      {
        kind: 'evm',
        network: 'x',
        chain_id: 'eip155:1',
        confirmations: 12,
        xpub: XPUB,
        tokens: { USDT: { contract } },
      },
    ];
    const NETWORKS_FILE = file('networks.json', JSON.stringify({ networks }));
    expect(() => readPaymentsConfig({ ...ENV, NETWORKS_FILE })).toThrow(
      /networks.0.tokens.USDT.contract: must be an address with its EIP-55 checksum/,
    );
  });
});
