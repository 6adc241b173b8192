import { FiatCurrency, PaymentCurrency, priceDecimals, ItemCurrency, scalesOf } from './currencies.ts';

const scales = scalesOf({ CAZ_DECIMALS: 4 });

test('each currency has its decimals, and CAZ those of the configuration', () =>
  expect(scales).toEqual({ USDT: 6, USDC: 6, USDG: 6, BTC: 8, ETH: 18, CAZ: 4 }));

test('the scales of two configurations stand side by side', () => {
  expect([scalesOf({ CAZ_DECIMALS: 0 }).CAZ, scales.CAZ]).toEqual([0, 4]);
});

test.each(ItemCurrency.options.filter((currency) => currency in scales))(
  'a price in %s has the decimals of its amounts',
  (currency) => expect(priceDecimals(currency)).toBe(scales[currency as PaymentCurrency]),
);

const UNUSUAL_DECIMALS: Partial<Record<ItemCurrency, number>> = { CLP: 0, JPY: 0, KWD: 3 };
test.each(FiatCurrency.options)('a price in %s has the decimals of ISO 4217', (currency) =>
  expect(priceDecimals(currency)).toBe(UNUSUAL_DECIMALS[currency] ?? 2),
);

test('no price is in a currency with decimals of the configuration', () =>
  expect([...PaymentCurrency.options, ...ItemCurrency.options].filter((currency) => currency === 'CAZ')).toEqual([
    'CAZ',
  ]));
