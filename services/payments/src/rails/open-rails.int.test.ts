import type { PaymentCurrency, RailOffer } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { instructionsOf, type RailsDatabase, SANDBOX, SCALES, startRailsDatabase } from '../testing/jest-rails.ts';
import { networkAvailability } from '../chains/network-availability.ts';
import { depositNetworksOf } from '../addresses/deposit-network.ts';
import { openRails } from './open-rails.ts';

let database: RailsDatabase;
beforeAll(async () => {
  database = await startRailsDatabase();
});
beforeEach(() => mark({}));

/** What the tables say about the network with nodes. */
const mark = async ({ halted = null, stalled = null }: { halted?: string | null; stalled?: string | null }) => {
  await database.pool.query(
    `insert into payments.chain_cursors (network, read_at, halted, stalled) values ('ethereum-sepolia', now(), $1, $2)
     on conflict (network) do update set read_at = now(), halted = $1, stalled = $2`,
    [halted, stalled],
  );
};
afterAll(() => database.stop());

const WATCHED = { 'ethereum-sepolia': ['http://127.0.0.1:1'] };

const rails = (ENVIRONMENT: 'sandbox' | 'production', CHAIN_URLS: Record<string, string[]>) => {
  const networks = depositNetworksOf(SANDBOX);
  const money = { assets: SANDBOX, scales: SCALES };
  const config = { ENVIRONMENT, CHAIN_URLS, PUBLIC_URL: 'http://pay.test', providers: [], ...money, networks };
  const { pool: readModel, client } = database;
  const now = () => new Date();
  const { read: readNetworks } = networkAvailability({ config, db: readModel, now });
  return openRails({ config, client, readModel, readNetworks, now });
};
type Rails = ReturnType<typeof rails>;
const pageOf = async ({ instructions }: Rails, currency: 'ETH' | 'BTC') =>
  (await instructionsOf(instructions, newId('order'), currency, ['gateway_pay']))[0];
const stockOf = ({ stock }: Rails) => stock({ addresses: {}, references: 1 });

test('production has pages of its own with addresses on the networks that have nodes', async () => {
  const production = rails('production', WATCHED);
  expect(await pageOf(production, 'ETH')).toMatchObject({
    provider: 'hosted',
    paymentUrl: expect.stringMatching(/^http:\/\/pay\.test\/pay\/[A-Z2-7]{26}$/),
    deposits: [{ network: 'ethereum-sepolia' }],
  });
  await expect(pageOf(production, 'BTC')).rejects.toThrow('gateway_pay does not support BTC');
  const { references } = await stockOf(production);
  expect(references).toEqual({ hosted: [expect.objectContaining({ networks: ['ethereum-sepolia'] })] });
});

test('production without nodes has no pages, because nobody would see what arrives behind them', async () => {
  const production = rails('production', {});
  await expect(pageOf(production, 'ETH')).rejects.toThrow('gateway_pay does not support ETH');
  expect((await stockOf(production)).references).toBeNull();
});

const payable = (offers: readonly RailOffer[]) =>
  offers
    .filter(({ is_available }) => is_available)
    .map(({ currency }) => currency)
    .toSorted();

const depositsOf = async ({ instructions }: Rails, currency: 'ETH' | 'BTC') =>
  instructionsOf(instructions, newId('order'), currency);

test('production offers deposits on the networks that have nodes alone, and says why not elsewhere', async () => {
  const production = rails('production', WATCHED);
  expect(await depositsOf(production, 'ETH')).toMatchObject([{ network: 'ethereum-sepolia' }]);
  await expect(depositsOf(production, 'BTC')).rejects.toMatchObject({
    code: 'network_unavailable',
    details: [
      {
        path: 'enable_rails',
        message:
          'crypto_deposit cannot take BTC now: bitcoin-testnet is unavailable, because it has no nodes in CHAIN_URLS',
      },
    ],
  });
  const { networks, offers } = await production.availability();
  expect(Object.keys(networks)).toEqual(['ethereum-sepolia']);
  expect(payable(offers.crypto_deposit)).toEqual(['CAZ', 'ETH', 'USDC', 'USDG', 'USDT']);
  expect(payable(offers.gateway_pay)).toEqual(payable(offers.crypto_deposit));
});

test.each([
  ['halted', { halted: 'block 0 of the nodes is another one' }, /its reading halted/],
  ['with nodes that are behind', { stalled: 'the newest block is an hour old' }, /its nodes are behind/],
])('no order gets an address on a chain %s, also behind a page', async (_, marks, reason) => {
  await mark(marks);
  for (const environment of ['production', 'sandbox'] as const) {
    const service = rails(environment, WATCHED);
    await expect(depositsOf(service, 'ETH')).rejects.toMatchObject({
      code: 'network_unavailable',
      message: expect.stringMatching(reason),
    });
    const { networks, offers } = await service.availability();
    expect(Object.keys(networks)).toEqual(environment === 'sandbox' ? ['bitcoin-testnet'] : []);
    expect(payable(offers.crypto_deposit)).toEqual(environment === 'sandbox' ? ['BTC'] : []);
    expect(payable(offers.gateway_pay).length).toBe(environment === 'sandbox' ? 6 : 0);
  }
  await expect(pageOf(rails('production', WATCHED), 'ETH')).rejects.toMatchObject({ code: 'network_unavailable' });
  expect(await pageOf(rails('sandbox', WATCHED), 'ETH')).toMatchObject({ provider: 'sandbox', deposits: [] });
});

test('a sandbox without nodes offers deposits on every network', async () => {
  await mark({ halted: 'read with nodes that were taken out' });
  const sandbox = rails('sandbox', {});
  expect(await depositsOf(sandbox, 'ETH')).toHaveLength(1);
  expect(await depositsOf(sandbox, 'BTC')).toHaveLength(1);
});

test('a sandbox has pages for every currency, with addresses where a network has nodes', async () => {
  const sandbox = rails('sandbox', WATCHED);
  expect(await pageOf(sandbox, 'ETH')).toMatchObject({
    provider: 'sandbox',
    deposits: [{ network: 'ethereum-sepolia' }],
  });
  expect(await pageOf(sandbox, 'BTC')).toMatchObject({ provider: 'sandbox', deposits: [] });
  expect(await pageOf(rails('sandbox', {}), 'ETH')).not.toHaveProperty('deposits');
});

test('an offer has the smallest total of each network, and of the rail the smallest that can be paid now', async () => {
  const offerOf = async (service: Rails, rail: 'crypto_deposit' | 'gateway_pay', currency: PaymentCurrency) =>
    (await service.availability()).offers[rail].find((each) => each.currency === currency);
  const sandbox = rails('sandbox', WATCHED);
  const bitcoin = {
    network: 'bitcoin-testnet',
    chain_id: expect.stringMatching(/^bip122:/),
    minimum_amount: '0.00001000',
  };
  expect(await offerOf(sandbox, 'crypto_deposit', 'BTC')).toMatchObject({
    is_available: true,
    minimum_amount: '0.00001000',
    networks: [{ ...bitcoin, is_available: true }],
  });
  // The pages of a sandbox are paid by /debug too, in any amount.
  expect(await offerOf(sandbox, 'gateway_pay', 'BTC')).toMatchObject({
    is_available: true,
    minimum_amount: '0.00000001',
  });
  const production = rails('production', WATCHED);
  expect(await offerOf(production, 'crypto_deposit', 'BTC')).toMatchObject({
    is_available: false,
    minimum_amount: '0.00001000',
    networks: [{ ...bitcoin, is_available: false }],
  });
  expect(await offerOf(production, 'gateway_pay', 'BTC')).toBeUndefined();
  expect(await offerOf(production, 'gateway_pay', 'ETH')).toEqual(await offerOf(production, 'crypto_deposit', 'ETH'));
});
