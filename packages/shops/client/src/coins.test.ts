import { type Client, ConnectionError, type Currencies } from '@cpg/sdk';
import { coinsFor, createCoins } from './coins.ts';

const rail = (minimum_amount: string, more: object = {}) => ({
  rail: 'crypto_deposit',
  is_available: true,
  networks: [],
  limits: [{ currency: 'JPY', minimum_amount, maximum_amount: '1000000' }],
  ...more,
});
const CURRENCIES = {
  price_currencies: [
    { currency: 'JPY', decimals: 0, is_available: true },
    { currency: 'MXN', decimals: 2, is_available: false, unavailable_reason: 'rate_unavailable' },
  ],
  payment_currencies: [
    { currency: 'USDC', decimals: 6, rails: [rail('1'), rail('1', { rail: 'gateway_pay' })] },
    { currency: 'BTC', decimals: 8, rails: [rail('900')] },
    { currency: 'ETH', decimals: 18, rails: [rail('1', { is_available: false })] },
    { currency: 'CAZ', decimals: 18, rails: [rail('1', { limits: [] })] },
  ],
} as unknown as Currencies;
const namesFor = (minor: bigint, currency: 'JPY' | 'MXN' | 'EUR' = 'JPY') =>
  coinsFor(CURRENCIES, { minor, currency }).map((coin) => coin.currency);

test.each([
  [0n, []],
  [1n, ['USDC']],
  [899n, ['USDC']],
  [900n, ['USDC', 'BTC']],
  [1_000_000n, ['USDC', 'BTC']],
  [1_000_001n, []],
])('%p yen can be paid with %p', (minor, names) => {
  expect(namesFor(minor)).toEqual(names);
});

test('nothing can be paid in a currency without a rate, or that the gateway does not know', () => {
  expect(namesFor(100n, 'MXN')).toEqual([]);
  expect(namesFor(100n, 'EUR')).toEqual([]);
});

test('keeps the answer for a minute, and for ten while the gateway is unreachable', async () => {
  let calls = 0;
  let isDown = false;
  let nowMs = 0;
  const getCurrencies = async () => {
    calls += 1;
    if (isDown) throw new ConnectionError('network', 'refused', { cause: undefined, key: undefined });
    return CURRENCIES;
  };
  const coins = createCoins({ getCurrencies } as unknown as Client, () => nowMs);
  const callsAfter = async (ms: number) => {
    nowMs = ms;
    const found = await coins({ minor: 100n, currency: 'JPY' });
    return [calls, 'code' in found ? found.code : found.length];
  };
  expect(await callsAfter(0)).toEqual([1, 1]);
  expect(await callsAfter(60_000)).toEqual([1, 1]);
  expect(await callsAfter(60_001)).toEqual([2, 1]);
  isDown = true;
  expect(await callsAfter(200_000)).toEqual([3, 1]);
  expect(await callsAfter(660_002)).toEqual([4, 'unreachable']);
});
