import { readAssets } from '@cpg/assets';
import {
  AppError,
  type Availability,
  ItemCurrency,
  type PaymentCurrency,
  type PaymentRail,
  type RailOffer,
  scalesOf,
} from '@cpg/contracts';
import { payableCurrencies } from './payable-currencies.ts';
import type { RateProvider } from '../rates/rates.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const offer = (currency: PaymentCurrency, minimum_amount: string, more: Partial<RailOffer> = {}): RailOffer => ({
  currency,
  is_available: true,
  minimum_amount,
  networks: [],
  ...more,
});

/** What the rails take at rates of 0.05 from every currency but `unpriced`. */
const found = async (offers: Partial<Record<PaymentRail, RailOffer[]>>, unpriced: readonly string[] = []) => {
  const rates: RateProvider = {
    quote: async (base, currency, now) => {
      if ([base, currency].some((each) => unpriced.includes(each)))
        throw new AppError('rate_unavailable', `no fresh rate for ${base}`);
      return { rate: '0.05', source: 'test', quotedAt: now };
    },
  };
  const availability: Availability = {
    networks: {},
    offers: { gateway_pay: [], crypto_deposit: [], ...offers },
  };
  const { payment_currencies } = await payableCurrencies({
    rates,
    availability: async () => availability,
    assets: readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 }),
    scales: scalesOf({ CAZ_DECIMALS: 18 }),
    now: () => NOW,
  })();
  return payment_currencies.filter(({ rails }) => rails.length > 0);
};

const limitIn = (limits: readonly { currency: string }[], currency: ItemCurrency) =>
  limits.find((each) => each.currency === currency);

test('the limits have the decimals of each price currency, and those of a rail are its own', async () => {
  const [usdc] = await found({
    crypto_deposit: [offer('USDC', '0.010000')],
    gateway_pay: [offer('USDC', '0.000001')],
  });
  expect(usdc).toMatchObject({ currency: 'USDC', decimals: 6 });
  const [page, deposit] = usdc!.rails;
  expect([page!.rail, deposit!.rail]).toEqual(['gateway_pay', 'crypto_deposit']);
  expect(deposit!.limits.map(({ currency }) => currency)).toEqual(ItemCurrency.options);
  expect(limitIn(deposit!.limits, 'MXN')).toMatchObject({ minimum_amount: '0.20' });
  expect(limitIn(deposit!.limits, 'JPY')).toMatchObject({ minimum_amount: '1', maximum_amount: '1' + '9'.repeat(19) });
  expect(limitIn(deposit!.limits, 'KWD')).toMatchObject({ minimum_amount: '0.200' });
  expect(limitIn(deposit!.limits, 'USDC')).toMatchObject({ minimum_amount: '0.010000' });
  expect(limitIn(page!.limits, 'KWD')).toMatchObject({ minimum_amount: '0.001' });
});

test('totals in ETH are whole steps, so a smaller price is enough', async () => {
  const [eth] = await found({ crypto_deposit: [offer('ETH', '0.000000010000000000')] });
  expect(limitIn(eth!.rails[0]!.limits, 'KWD')).toMatchObject({ minimum_amount: '0.001' });
});

test('a price currency without a rate has no limit, and a coin without one is not available', async () => {
  const [usdc, caz] = await found({ crypto_deposit: [offer('USDC', '0.01'), offer('CAZ', '0.01')] }, [
    'KWD',
    'CAZ',
    'USDC',
  ]);
  // A price in USDC needs no rate.
  expect(usdc!.rails[0]).toMatchObject({ is_available: true, limits: [{ currency: 'USDC' }] });
  expect(caz!.rails[0]).toMatchObject({ is_available: false, unavailable_reason: 'rate_unavailable', limits: [] });
});

test('a rail whose networks are not read says so, and keeps its limits', async () => {
  const [btc] = await found({ crypto_deposit: [offer('BTC', '0.00001000', { is_available: false })] });
  const [rail] = btc!.rails;
  expect(rail).toMatchObject({ is_available: false, unavailable_reason: 'network_unavailable' });
  expect(limitIn(rail!.limits, 'JPY')).toMatchObject({ minimum_amount: '1' });
});

test('a failure that is no missing rate is not hidden', async () => {
  const failing = payableCurrencies({
    rates: { quote: () => Promise.reject(new RangeError('broken')) },
    availability: async () => ({ networks: {}, offers: { gateway_pay: [], crypto_deposit: [] } }),
    assets: readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 }),
    scales: scalesOf({ CAZ_DECIMALS: 18 }),
    now: () => NOW,
  });
  await expect(failing()).rejects.toThrow('broken');
});
