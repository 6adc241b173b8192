import { assetsOf } from '@cpg/assets';
import { PaymentCurrency } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { depositOf, instructionsOf, type RailsDatabase, SANDBOX, startRailsDatabase } from '../testing/jest-rails.ts';
import { depositNetworksOf } from '../addresses/deposit-network.ts';

let rails: RailsDatabase;

beforeAll(async () => {
  rails = await startRailsDatabase();
});

afterAll(() => rails.stop());

test('assigns instructions on every enabled rail, in the given order', async () => {
  const orderId = newId('order');
  const [provider, chain] = await instructionsOf(rails.startProcess(), orderId, 'USDC', [
    'gateway_pay',
    'crypto_deposit',
  ]);
  expect(provider).toEqual({
    rail: 'gateway_pay',
    currency: 'USDC',
    provider: 'sandbox',
    paymentReference: expect.stringMatching(/^[A-Z2-7]{26}$/),
    paymentUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:4000\/pay\/[A-Z2-7]{26}$/),
  });
  expect(chain).toEqual({
    rail: 'crypto_deposit',
    currency: 'USDC',
    network: 'ethereum-sepolia',
    chainId: 'eip155:11155111',
    asset: 'eip155:11155111/erc20:0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238',
    address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    decimals: 6,
    currencyDecimals: 6,
    requiredConfirmations: 12,
    derivation: { fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/), path: expect.stringMatching(/^0\/\d+$/) },
  });
});

test('assigns a native segwit address for Bitcoin', async () => {
  expect(await depositOf(rails.startProcess(), newId('order'), 'BTC')).toMatchObject({
    network: 'bitcoin-testnet',
    asset: 'bip122:000000000933ea01ad0ee984209779ba/slip44:1',
    address: expect.stringMatching(/^tb1q[02-9ac-hj-np-z]{38}$/),
    decimals: 8,
    requiredConfirmations: 2,
  });
});

test.each(PaymentCurrency.options)('the sandbox supports %s on both rails', async (currency) => {
  const instructions = await instructionsOf(rails.startProcess(), newId('order'), currency, [
    'gateway_pay',
    'crypto_deposit',
  ]);
  expect(instructions.map(({ rail }) => rail)).toEqual(['gateway_pay', 'crypto_deposit']);
});

test('shows only the fingerprint of an account key', async () => {
  const shown = JSON.stringify(
    await instructionsOf(rails.startProcess(), newId('order'), 'ETH', ['gateway_pay', 'crypto_deposit']),
  );
  expect(shown).not.toMatch(/pub[0-9A-Za-z]{100}/);
});

test('refuses a currency without a contract and assigns nothing on any rail', async () => {
  const bare = depositNetworksOf({ ...SANDBOX, assets: SANDBOX.assets.filter(({ currency }) => currency !== 'CAZ') });
  const assign = rails.startProcess(bare);
  const orderId = newId('order');
  await expect(instructionsOf(assign, orderId, 'CAZ', ['gateway_pay', 'crypto_deposit'])).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'enable_rails: crypto_deposit does not support CAZ',
  });
});

test('assigns nothing to an order that counts its currency with other decimals', async () => {
  const money = { currency: 'CAZ' as const, amount_minor: '10000000', decimals: 6 };
  const call = { order_id: newId('order'), merchant_id: newId('merchant'), rails: ['gateway_pay' as const], ...money };
  await expect(rails.startProcess()(call)).rejects.toMatchObject({
    code: 'dependency_unavailable',
    cause: { message: expect.stringContaining('orders counts CAZ with 6 decimals, payments with 18') },
  });
});

test('offers only the networks that are available and can take the amount, and refuses one that none can take', async () => {
  const [usdc] = assetsOf(SANDBOX, 'USDC');
  const base = { ...usdc!.network, name: 'base-sepolia', chainId: 'eip155:84532' };
  const cheap = {
    ...usdc!,
    network: base,
    id: `${base.chainId}/erc20:${usdc!.contract}`,
    smallestPayableMinor: 10_000n,
  };
  const dear = { ...usdc!, smallestPayableMinor: 5_000_000n };
  const table = { networks: [usdc!.network, base], assets: [dear, cheap] };
  const assign = rails.startProcess(depositNetworksOf(table));
  const networksFor = async (amount_minor: string) => {
    const money = { currency: 'USDC' as const, amount_minor, decimals: 6 };
    const call = { order_id: newId('order'), merchant_id: newId('merchant'), ...money };
    const { instructions } = await assign({ ...call, rails: ['crypto_deposit'] });
    return instructions.map((instruction) => instruction.rail === 'crypto_deposit' && instruction.network);
  };
  expect(await networksFor('5000000')).toEqual(['ethereum-sepolia', 'base-sepolia']);
  expect(await networksFor('4999999')).toEqual(['base-sepolia']);
  rails.setUnavailable('ethereum-sepolia', 'its reading halted');
  expect(await networksFor('5000000')).toEqual(['base-sepolia']);
  rails.setUnavailable('base-sepolia', 'its nodes are behind');
  await expect(networksFor('5000000')).rejects.toMatchObject({
    code: 'network_unavailable',
    message:
      'enable_rails: crypto_deposit cannot take USDC now: ethereum-sepolia is unavailable, because its reading halted; base-sepolia is unavailable, because its nodes are behind',
  });
  await expect(networksFor('9999')).rejects.toMatchObject({
    code: 'amount_too_small',
    message: expect.stringMatching(/the total is 0.009999 USDC, and crypto_deposit takes at least 0.010000/),
  });
});
