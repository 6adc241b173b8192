import { newId } from '@cpg/runtime';
import { instructionsOf, type RailsDatabase, SANDBOX, startRailsDatabase } from '../testing/jest-rails.ts';
import { depositNetworksOf } from './networks.ts';
import { openRails } from './open-rails.ts';

let database: RailsDatabase;
beforeAll(async () => {
  database = await startRailsDatabase();
});
afterAll(() => database.stop());

const WATCHED = { 'ethereum-sepolia': ['http://127.0.0.1:1'] };

const rails = (ENVIRONMENT: 'sandbox' | 'production', CHAIN_URLS: Record<string, string[]>) => {
  const networks = depositNetworksOf(SANDBOX);
  const config = { ENVIRONMENT, CHAIN_URLS, PUBLIC_URL: 'http://pay.test', providers: [], assets: SANDBOX, networks };
  return openRails({ config, client: database.client, readModel: database.pool, now: () => new Date() });
};
type Rails = ReturnType<typeof rails>;
const pageOf = async ({ instructions }: Rails, currency: 'ETH' | 'BTC') =>
  (await instructionsOf(instructions, newId('order'), currency, ['gateway_pay']))[0];
const stockOf = ({ stock }: Rails) => stock({ addresses: {}, references: 1, adds_deposits: true });

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

test('a sandbox has pages for every currency, with addresses where a network has nodes', async () => {
  const sandbox = rails('sandbox', WATCHED);
  expect(await pageOf(sandbox, 'ETH')).toMatchObject({
    provider: 'sandbox',
    deposits: [{ network: 'ethereum-sepolia' }],
  });
  expect(await pageOf(sandbox, 'BTC')).toMatchObject({ provider: 'sandbox', deposits: [] });
  expect(await pageOf(rails('sandbox', {}), 'ETH')).not.toHaveProperty('deposits');
});
