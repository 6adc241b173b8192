import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assetsOf, mistakableTokens } from './asset-table.ts';
import { AssetsFile } from './assets-file.ts';
import { transactionUrl } from './chains.ts';
import { AssetsConfig, readAssets } from './read-assets.ts';

const USDC_ON_BNB = '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d';
const USDT_ON_BNB = '0x55d398326f99059fF775485246999027B3197955';
const BITCOIN = 'bip122:000000000019d6689c085ae165831e93';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'assets-'))));
afterAll(() => rmSync(folder, { recursive: true }));

const fileOf = (content: unknown, name = 'assets.json') => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
};

const bitcoin = { network: 'bitcoin', chain_id: BITCOIN };
const btc = {
  currency: 'BTC',
  network: 'bitcoin',
  native: true,
  decimals: 8,
  smallest_payable: '0.00001',
  confirmations: 2,
};
const bnb = { network: 'bnb', chain_id: 'eip155:56' };
const usdc = {
  currency: 'USDC',
  network: 'bnb',
  contract: USDC_ON_BNB,
  decimals: 18,
  smallest_payable: '0.5',
  confirmations: 15,
};
const ethereum = { network: 'ethereum', chain_id: 'eip155:1' };
const eth = { ...btc, currency: 'ETH', network: 'ethereum', decimals: 18, smallest_payable: '0.001' };

const read = (
  networks: unknown[],
  assets: unknown[],
  ENVIRONMENT: 'sandbox' | 'production' = 'production',
  CAZ_DECIMALS = 18,
) => readAssets({ ENVIRONMENT, CAZ_DECIMALS, ASSETS_FILE: fileOf({ networks, assets }) });

const messageOf = (refused: () => unknown): string => {
  try {
    refused();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

const faultOf = (networks: unknown[], assets: unknown[]) => messageOf(() => read(networks, assets));

test.each(['sandbox', 'production'] as const)('the table of %s has the dust limit of Bitcoin', (ENVIRONMENT) => {
  const table = readAssets({ ENVIRONMENT, CAZ_DECIMALS: 18 });
  expect(assetsOf(table, 'BTC')).toMatchObject([
    { decimals: 8, smallestPayableMinor: 1_000n, requiredConfirmations: 2 },
  ]);
  expect(table.networks.map(({ kind }) => kind)).toEqual(['bitcoin', 'evm']);
});

describe('NETWORKS', () => {
  const NETWORKS = ['bitcoin', 'ethereum', 'base', 'polygon', 'arbitrum', 'bnb'];
  const namesOf = (networks?: string[]) =>
    readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18, NETWORKS: networks }).networks.map(({ name }) => name);

  test('chooses networks of the table that comes with the gateway', () => {
    expect(namesOf()).toEqual(['bitcoin', 'ethereum']);
    expect(namesOf(['base', 'ethereum'])).toEqual(['ethereum', 'base']);
    const { assets } = readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18, NETWORKS: ['bnb'] });
    expect(assets.map(({ id }) => id)).toEqual([`eip155:56/erc20:${USDT_ON_BNB}`, `eip155:56/erc20:${USDC_ON_BNB}`]);
  });

  test('is a list with commas', () => {
    expect(AssetsConfig.parse({ NETWORKS: 'bitcoin, base' }).NETWORKS).toEqual(['bitcoin', 'base']);
  });

  test.each<['sandbox' | 'production', string[], RegExp]>([
    ['production', ['base', 'avalanche', ''], /^NETWORKS: "avalanche", "" must be among bitcoin, ethereum, base, /],
    ['sandbox', ['base'], /^NETWORKS: "base" must be among bitcoin-testnet, ethereum-sepolia in the sandbox/],
  ])('in the %s, a name that the table lacks is refused: %j', (ENVIRONMENT, names, message) => {
    expect(() => readAssets({ ENVIRONMENT, CAZ_DECIMALS: 18, NETWORKS: names })).toThrow(message);
  });

  test.each([{ NETWORKS: ['base'] }, { BRIDGED_TOKENS: 'credit' as const }])(
    'is refused beside ASSETS_FILE: %j',
    (variable) => {
      const ASSETS_FILE = fileOf({ networks: [bnb], assets: [usdc] });
      expect(() => readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18, ASSETS_FILE, ...variable })).toThrow(
        /(NETWORKS|BRIDGED_TOKENS) changes the table .* set only one of them/,
      );
    },
  );

  test.each(NETWORKS)('%s names its source, and each of its assets can pay every amount of its currency', (name) => {
    const path = join(import.meta.dirname, '../config/assets.production.json');
    const file = AssetsFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    const tokens = file.assets.filter(({ network, contract }) => network === name && contract);
    for (const { note } of [...tokens, ...file.networks]) expect(note).toMatch(/Source: |minutes/);
    // The schema checks the checksums of contracts.
    const { assets } = readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18, NETWORKS: [name] });
    for (const { contract, decimals, currencyDecimals } of assets) {
      expect(decimals).toBeGreaterThanOrEqual(currencyDecimals);
      if (contract) expect(decimals).toBe(name === 'bnb' ? 18 : 6);
    }
  });
});

describe('several tokens of one currency on one network', () => {
  const other = { ...usdc, contract: USDT_ON_BNB, label: 'USDC.e', if_sent: 'orphan' };

  test('payers are asked for one of them', () => {
    const table = read([bnb], [other, usdc]);
    expect(assetsOf(table, 'USDC').map(({ contract }) => contract)).toEqual([USDC_ON_BNB]);
    expect(table.assets).toMatchObject([{ label: 'USDC.e', ifSent: 'orphan' }, {}]);
    expect(table.assets[1]).not.toHaveProperty('ifSent');
  });

  test('a payer is warned of those that do not pay', () => {
    const mistakable = (if_sent: string) => {
      const table = read([bnb], [{ ...other, if_sent }, usdc]);
      return mistakableTokens(table, { asset: assetsOf(table, 'USDC')[0]!.id, network: 'bnb' });
    };
    expect(mistakable('orphan')).toEqual(['USDC.e']);
    expect(mistakable('credit')).toEqual([]);
    expect(mistakableTokens(read([bnb], [usdc]), { asset: 'eip155:56/erc20:gone', network: 'bnb' })).toEqual([]);
  });

  test('BRIDGED_TOKENS decides on those of the table that comes with the gateway', () => {
    const ifSent = (BRIDGED_TOKENS?: 'credit' | 'orphan') =>
      readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18, NETWORKS: ['polygon'], BRIDGED_TOKENS }).assets.map(
        (each) => each.ifSent,
      );
    expect(ifSent()).toEqual([undefined, undefined, 'orphan']);
    expect(ifSent('credit')).toEqual([undefined, undefined, 'credit']);
  });

  test.each<[string, object[], RegExp]>([
    ['two that are offered', [usdc, { ...other, if_sent: undefined }], /two rows are USDC on bnb: .* Add "if_sent"/],
    ['none that is offered', [other], /USDC on bnb: no other row offers this currency there: remove "if_sent"/],
    ['one without a label', [usdc, { ...other, label: undefined }], /it needs a "label" other than USDC/],
    [
      'one with the label of the offered one',
      [usdc, { ...other, label: 'USDC' }],
      /it needs a "label" other than USDC/,
    ],
    ['two with one label', [{ ...usdc, label: 'USDC.e' }, other], /two rows on bnb have the label USDC\.e/],
    ['an unknown decision', [usdc, { ...other, if_sent: 'refuse' }], /if_sent: must be "credit" or "orphan"/],
  ])('refuses %s', (_, assets, message) => {
    expect(faultOf([bnb], assets)).toMatch(message);
  });

  test('refuses not to offer the coin of a chain', () => {
    const coin = { ...eth, label: 'Ether', if_sent: 'orphan' };
    expect(faultOf([ethereum], [eth, coin])).toMatch(/ETH on ethereum: the coin of a chain is always offered/);
  });
});

test('an amount can have to be final, except on Bitcoin', () => {
  expect(read([bnb], [{ ...usdc, finalized_from: '10000' }]).assets).toMatchObject([
    { finalizedFromMinor: 10_000_000_000n },
  ]);
  expect(faultOf([bitcoin], [{ ...btc, finalized_from: '1' }])).toMatch(
    /BTC on bitcoin: "finalized_from" is for EVM chains/,
  );
});

test('a token has the decimals of its contract, and no chain has a coin that no row names', () => {
  const { assets } = read([bnb], [usdc]);
  expect(assets).toMatchObject([
    {
      currency: 'USDC',
      id: `eip155:56/erc20:${USDC_ON_BNB}`,
      decimals: 18,
      smallestPayableMinor: 500_000n,
      requiredConfirmations: 15,
      network: { name: 'bnb', nativeCoin: 'BNB' },
    },
  ]);
});

test('a network that this version does not know says which coin is its own', () => {
  const local = { network: 'local', chain_id: 'eip155:424242' };
  const row = { ...eth, network: 'local' };
  expect(faultOf([local], [row])).toMatch(
    /ETH on local: the native coin of eip155:424242 is not known .* add "native_coin": "ETH" to the network/,
  );
  expect(read([{ ...local, native_coin: 'ETH' }], [row]).assets).toMatchObject([{ id: 'eip155:424242/slip44:60' }]);
});

test.each<[string, unknown[], unknown[], RegExp]>([
  [
    'an unknown currency',
    [bitcoin],
    [{ ...btc, currency: 'DOGE' }],
    /assets\.0\.currency: must be a currency that orders can be paid in: USDT, /,
  ],
  ['the same row twice', [bnb], [usdc, { ...usdc, contract: USDT_ON_BNB }], /two rows are USDC on bnb/],
  [
    'one contract for two currencies',
    [bnb],
    [usdc, { ...usdc, currency: 'USDT' }],
    /USDT on bnb has the contract of another row/,
  ],
  [
    'a contract with a false checksum',
    [bnb],
    [{ ...usdc, contract: USDC_ON_BNB.replace('8AC', '8aC') }],
    /assets\.0\.contract: must be the address of a token contract with its EIP-55 checksum/,
  ],
  [
    'a contract without upper-case letters',
    [bnb],
    [{ ...usdc, contract: USDC_ON_BNB.toLowerCase() }],
    /EIP-55 checksum/,
  ],
  ['the zero address', [bnb], [{ ...usdc, contract: `0x${'0'.repeat(40)}` }], /assets\.0\.contract: /],
  [
    'ETH on a chain with another coin',
    [bnb],
    [{ ...eth, network: 'bnb' }],
    /ETH on bnb: the native coin of eip155:56 is BNB/,
  ],
  [
    'ETH on Bitcoin',
    [bitcoin],
    [{ ...eth, network: 'bitcoin' }],
    /ETH on bitcoin: the native coin of bip122:\w+ is BTC/,
  ],
  [
    'BTC on an EVM chain',
    [ethereum],
    [{ ...btc, network: 'ethereum' }],
    /BTC on ethereum: the native coin of eip155:1 is ETH/,
  ],
  [
    'a token on Bitcoin',
    [bitcoin],
    [{ ...usdc, network: 'bitcoin' }],
    /USDC on bitcoin: a Bitcoin chain has no tokens/,
  ],
  ['a token as ETH', [bnb], [{ ...usdc, currency: 'ETH' }], /ETH on bnb: a token is not ETH/],
  [
    'a false native coin',
    [{ ...bnb, native_coin: 'ETH' }],
    [usdc],
    /the native coin of bnb \(eip155:56\) is BNB, not ETH/,
  ],
  ['BTC with 9 decimals', [bitcoin], [{ ...btc, decimals: 9 }], /BTC on bitcoin: the native coin has 8 decimals/],
  [
    'fewer decimals than the currency',
    [bnb],
    [{ ...usdc, decimals: 5 }],
    /USDC on bnb: has 5 decimals, must have 6 \(as amounts of USDC\) to 36/,
  ],
  ['too many decimals', [bnb], [{ ...usdc, decimals: 37 }], /has 37 decimals/],
  [
    'decimals that are no whole number',
    [bnb],
    [{ ...usdc, decimals: '18' }],
    /assets\.0\.decimals: must be the number of decimals/,
  ],
  ['no decimals', [bnb], [{ ...usdc, decimals: undefined }], /assets\.0\.decimals: must be the number of decimals/],
  [
    'a chain id that is no CAIP-2 id',
    [{ ...bnb, chain_id: '56' }],
    [usdc],
    /networks\.0\.chain_id: must be the CAIP-2 id/,
  ],
  [
    'a chain that is not Bitcoin',
    [{ ...bitcoin, chain_id: 'bip122:12a765e31ffd4059bada1e25190f6e98' }],
    [btc],
    /networks\.0\.chain_id: /,
  ],
  ['one name for two networks', [bnb, { ...ethereum, network: 'bnb' }], [usdc], /two networks have the name bnb/],
  [
    'one chain for two networks',
    [bnb, { ...bnb, network: 'bsc' }],
    [usdc, { ...usdc, network: 'bsc' }],
    /two networks have the chain id eip155:56/,
  ],
  ['a row without its network', [bnb], [usdc, eth], /ETH on ethereum: there is no network of that name/],
  [
    'a network without rows',
    [bnb, ethereum],
    [usdc],
    /the network ethereum has no asset: add a row for each, or remove the network/,
  ],
  ['no assets', [], [], /networks: needs a network[^]*assets: needs an asset/],
  ['neither a coin nor a token', [bnb], [{ ...usdc, contract: undefined }], /must have either "native": true/],
  ['both a coin and a token', [ethereum], [{ ...eth, contract: USDC_ON_BNB }], /must have either "native": true/],
  [
    'a smallest amount of zero',
    [bnb],
    [{ ...usdc, smallest_payable: '0.000' }],
    /assets\.0\.smallest_payable: must be more than zero/,
  ],
  ['no confirmations', [bnb], [{ ...usdc, confirmations: 0 }], /assets\.0\.confirmations: must be at least 1/],
  ...[
    [{ from: '0', confirmations: 20 }],
    [{ from: '5', confirmations: 15 }],
    [
      { from: '5', confirmations: 20 },
      { from: '5', confirmations: 30 },
    ],
  ].map((confirmation_tiers): [string, object[], object[], RegExp] => [
    `the tiers ${JSON.stringify(confirmation_tiers)}`,
    [bnb],
    [{ ...usdc, confirmation_tiers }],
    /each of "confirmation_tiers" must have a larger "from" and more "confirmations"|from: must be more than zero/,
  ]),
  ['a field that it does not know', [bnb], [{ ...usdc, decimal: 18 }], /assets\.0\.decimal: is not a known field/],
])('refuses %s', (_, networks, assets, message) => {
  expect(faultOf(networks, assets)).toMatch(/^ASSETS_FILE \(.*assets\.json\) is invalid:\n/);
  expect(faultOf(networks, assets)).toMatch(message);
});

describe('test networks', () => {
  const local = { network: 'local', chain_id: 'eip155:31337' };
  const sepolia = { network: 'sepolia', chain_id: 'eip155:11155111' };
  const testnet = { network: 'testnet', chain_id: 'bip122:000000000933ea01ad0ee984209779ba' };
  const own = { network: 'own', chain_id: 'eip155:999999' };
  const tokenOn = ({ network }: { network: string }) => ({ ...usdc, network });
  const btcOn = ({ network }: { network: string }) => ({ ...btc, network });

  test.each([
    ['a public one', sepolia, tokenOn(sepolia)],
    ['one of this machine', local, tokenOn(local)],
    ['one of Bitcoin', testnet, btcOn(testnet)],
  ])('production refuses %s, and says what to do', (_, network, asset) => {
    expect(faultOf([network], [asset])).toMatch(
      /is a test network, whose coins are free: .* Remove the network and its assets, or test in a sandbox/,
    );
    expect(read([network], [asset], 'sandbox').networks).toHaveLength(1);
  });

  test('are refused beside a main network that shares their addresses', () => {
    const mixed = () => read([ethereum, sepolia], [eth, tokenOn(sepolia)], 'sandbox');
    expect(mixed).toThrow(
      'sepolia (eip155:11155111) is a test network and shares its addresses with ethereum (eip155:1)',
    );
    expect(read([bitcoin, sepolia], [btc, tokenOn(sepolia)], 'sandbox').networks).toHaveLength(2);
  });

  test('a chain that is not known may stand beside both', () => {
    expect(read([ethereum, own], [eth, tokenOn(own)]).networks).toHaveLength(2);
    expect(read([sepolia, own], [sepolia, own].map(tokenOn), 'sandbox').networks).toHaveLength(2);
  });
});

test('a retired asset stays in the table beside its successor, and new orders are not offered it', () => {
  const retired = { ...usdc, contract: USDT_ON_BNB, retired: true };
  const table = read([bnb], [usdc, retired]);
  expect(table.assets.map(({ id }) => id)).toEqual([
    `eip155:56/erc20:${USDC_ON_BNB}`,
    `eip155:56/erc20:${USDT_ON_BNB}`,
  ]);
  expect(assetsOf(table, 'USDC').map(({ id }) => id)).toEqual([`eip155:56/erc20:${USDC_ON_BNB}`]);
  expect(faultOf([bnb], [usdc, { ...retired, retired: false }])).toMatch(/retired: must be true, or be left out/);
});

test('names all faults in one error', () => {
  const faults = faultOf(
    [bnb, bitcoin],
    [
      { ...usdc, decimals: 5 },
      { ...btc, decimals: 7 },
    ],
  );
  expect(faults.split('\n').slice(1)).toEqual([
    expect.stringMatching(/USDC on bnb/),
    expect.stringMatching(/BTC on bitcoin/),
  ]);
});

test('rounds the smallest amount up to a minor unit of the currency', () => {
  const caz = { ...usdc, currency: 'CAZ', smallest_payable: '0.000001' };
  expect(read([bnb], [caz], 'production', 2).assets).toMatchObject([
    { currency: 'CAZ', decimals: 18, currencyDecimals: 2, smallestPayableMinor: 1n },
  ]);
});

test('names the variable and the file that cannot be read', () => {
  expect(() =>
    readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18, ASSETS_FILE: join(folder, 'none.json') }),
  ).toThrow(/^ASSETS_FILE \(.*none\.json\) cannot be read: /);
  writeFileSync(join(folder, 'half.json'), readFileSync(fileOf({}), 'utf8').slice(0, 1));
  expect(() =>
    readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18, ASSETS_FILE: join(folder, 'half.json') }),
  ).toThrow(/half\.json\) is invalid:\n {2}it is not valid JSON$/);
});

test('a known public network has an explorer, a local one has none, and the file has the last word', () => {
  const local = { network: 'local', chain_id: 'eip155:31337' };
  const explorer = (network: object) =>
    transactionUrl(
      read([network], [{ ...usdc, ...network, chain_id: undefined, explorer: undefined }], 'sandbox').networks[0]!,
      '0xab',
    );
  expect([bnb, local].map(explorer)).toEqual(['https://bscscan.com/tx/0xab', undefined]);
  expect(explorer({ ...bnb, explorer: null })).toBeUndefined();
  expect(explorer({ ...local, explorer: 'https://scan.shop.example/' })).toBe('https://scan.shop.example/tx/0xab');
  expect(faultOf([{ ...bnb, explorer: 'http://bscscan.com' }], [usdc])).toContain('must be the https:// address');
});

test('amounts are multiples of a step, of 8 decimals by default, and the smallest one is at least a step', () => {
  const steps = (...rows: unknown[]) =>
    read([ethereum], rows).assets.map(({ payableStepMinor, smallestPayableMinor }) => [
      payableStepMinor,
      smallestPayableMinor,
    ]);
  expect(steps({ ...eth, smallest_payable: '0.000000000000000001' })).toEqual([[10n ** 10n, 10n ** 10n]]);
  expect(steps({ ...eth, smallest_payable: '0.000001' })).toEqual([[10n ** 10n, 10n ** 12n]]);
  expect(steps({ ...eth, payable_step: '0.0001' })).toEqual([[10n ** 14n, 10n ** 15n]]);
  expect(steps({ ...eth, smallest_payable: '0.000000000000000001', payable_step: '0.000000000000000001' })).toEqual([
    [1n, 1n],
  ]);
  expect(read([bitcoin], [btc]).assets).toMatchObject([{ payableStepMinor: 1n, smallestPayableMinor: 1_000n }]);
});
