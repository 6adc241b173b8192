import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssetsFile, assetTable } from '@cpg/assets';
import { scalesOf } from '@cpg/contracts';
import { chainEnvironment } from './chain-environment.ts';

const ETHEREUM = 'http://127.0.0.1:8545';
const BITCOIN = 'http://user:pass@127.0.0.1:18443';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'chains '))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const networksIn = (path: string) =>
  assetTable(AssetsFile.parse(JSON.parse(readFileSync(path, 'utf8'))), scalesOf({ CAZ_DECIMALS: 18 })).networks.map(
    ({ name }) => name,
  );

test('leaves the sandbox as it is without a chain', () => expect(chainEnvironment({}, folder, {})).toEqual({}));

test('keeps the settings of the caller for commands in another shell, without a chain too', () => {
  const env = { ASSETS_FILE: 'mine.json', CHAIN_URLS: '{}', CAZ_DECIMALS: '2', LOG_LEVEL: 'debug' };
  expect(chainEnvironment({}, folder, env)).toEqual({
    ASSETS_FILE: join(process.cwd(), 'mine.json'),
    CHAIN_URLS: '{}',
    CAZ_DECIMALS: '2',
  });
});

test('puts the chains of this machine in the places of public test chains', () => {
  const one = chainEnvironment({ ethereum: ETHEREUM }, folder, {});
  expect(networksIn(one.ASSETS_FILE!)).toEqual(['bitcoin-testnet', 'ethereum-local']);
  expect(JSON.parse(one.CHAIN_URLS!)).toEqual({ 'ethereum-local': [ETHEREUM] });
  const both = chainEnvironment({ ethereum: ETHEREUM, bitcoin: BITCOIN }, folder, {});
  expect(networksIn(both.ASSETS_FILE!)).toEqual(['bitcoin-regtest', 'ethereum-local']);
  expect(JSON.parse(both.CHAIN_URLS!)).toEqual({ 'ethereum-local': [ETHEREUM], 'bitcoin-regtest': [BITCOIN] });
});

test('every currency of the sandbox has an asset on the chains of this machine', () => {
  const { ASSETS_FILE } = chainEnvironment({ ethereum: ETHEREUM, bitcoin: BITCOIN }, folder, {});
  const { assets } = AssetsFile.parse(JSON.parse(readFileSync(ASSETS_FILE!, 'utf8')));
  expect(assets.map(({ currency }) => currency).sort()).toEqual(['BTC', 'CAZ', 'ETH', 'USDC', 'USDG', 'USDT']);
  expect(new Set(assets.map(({ confirmations }) => confirmations))).toEqual(new Set([1]));
});

test('a file of assets and URLs of the caller win', () => {
  const file = join(folder, 'mine.json');
  writeFileSync(file, JSON.stringify({ networks: [{ network: 'mine', chain_id: 'eip155:31337' }] }));
  const env = { ASSETS_FILE: file, CHAIN_URLS: '{"ethereum":["https://rpc.example"]}' };
  const { ASSETS_FILE, CHAIN_URLS } = chainEnvironment({ ethereum: ETHEREUM }, folder, env);
  expect(ASSETS_FILE).toBe(file);
  expect(JSON.parse(CHAIN_URLS!)).toEqual({ mine: [ETHEREUM], ethereum: ['https://rpc.example'] });
});

test('payment pages can pay from the wallet of the EVM chain alone', () => {
  expect(chainEnvironment({ ethereum: ETHEREUM }, folder, {}).TEST_WALLET_URL).toBe(ETHEREUM);
  expect(chainEnvironment({ bitcoin: BITCOIN }, folder, {})).not.toHaveProperty('TEST_WALLET_URL');
});

test('names the variable that is not JSON, without its value', () => {
  const read = () => chainEnvironment({ ethereum: ETHEREUM }, folder, { CHAIN_URLS: 'https://secret' });
  expect(read).toThrow('CHAIN_URLS is not JSON that can be read');
});
