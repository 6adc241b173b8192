import { formatDecimal, fromMinor, type Item, parseDecimal, type Rates } from '@cpg/contracts';
import fc from 'fast-check';
import { crossRate, itemTotals, price as priceOf, refuseNegativeSums, sumsOf } from './pricing.ts';

const price = (items: readonly Item[], rates: Rates, decimals: number, stepMinor?: bigint) =>
  priceOf(sumsOf(items), rates, decimals, stepMinor);
const rate = (value: string) => ({ rate: value, source: 'test', quoted_at: '', expires_at: '' });
const item = (
  quantity: number,
  unit_price: string,
  currency: Item['currency'] = 'USD',
  modifiers?: Item['modifiers'],
): Item => ({ name: 'x', quantity, unit_price, currency, modifiers });

test('adds exact lines and rounds the total up once', () => {
  const rates = { USD: rate('0.333333'), MXN: rate('0.05612') };
  expect(price([item(3, '0.01')], rates, 6)).toBe(10_000n); // 0.00999999 -> 0.010000
  expect(price([item(0.5, '10.25', 'MXN'), item(1, '1')], rates, 6)).toBe(620_948n); // 0.287615 + 0.333333
});

test('rounds the total up to a step that wallets take', () => {
  const rates = { USD: rate('0.000333333333333333') };
  const total = (step?: bigint) => price([item(1, '1')], rates, 18, step);
  expect(total()).toBe(333_333_333_333_333n);
  expect(total(10n ** 10n)).toBe(333_340_000_000_000n);
  expect(price([item(1, '30')], { USD: rate('0.1') }, 18, 10n ** 10n)).toBe(3n * 10n ** 18n);
});

test('counts a modifier by its own quantity', () => {
  const coffee = item(3, '2', 'USDC', [{ name: 'oat milk', quantity: 2, unit_price: '0.5', currency: 'USDC' }]);
  expect(price([coffee], { USDC: rate('1') }, 6)).toBe(7_000_000n);
  expect(itemTotals([coffee])).toEqual({ USDC: '7.000000' });
});

test('needs a rate for each currency of its items and their modifiers, and for no other', () => {
  const items = [
    item(1, '1', 'MXN', [{ name: 'oat milk', quantity: 1, unit_price: '1', currency: 'EUR' }]),
    item(1, '1', 'USD'),
    item(1, '1', 'MXN'),
  ];
  expect([...sumsOf(items).keys()]).toEqual(['MXN', 'EUR', 'USD']);
  expect(() => price(items, { MXN: rate('1'), USD: rate('1') }, 6)).toThrow('no rate was locked for EUR');
});

test.each<[Item[], object]>([
  [[item(1, '181.5', 'MXN')], { MXN: '181.50' }],
  [[item(3, '60.5', 'MXN'), item(1, '0', 'USDT')], { MXN: '181.50', USDT: '0.000000' }],
  [[item(0.333333, '1.01')], { USD: '0.33666633' }],
  [[item(0.5, '0.1')], { USD: '0.05' }],
  [[item(0.000001, '0.000001', 'USDC')], { USDC: '0.000000000001' }],
  [[item(3, '1500', 'JPY'), item(2, '0.125', 'KWD')], { JPY: '4500', KWD: '0.250' }],
  [[item(0.5, '1501', 'JPY')], { JPY: '750.5' }],
])('shows sums exactly, with at least the decimals of their currency', (items, totals) =>
  expect(itemTotals(items)).toEqual(totals),
);

test('accepts the largest total that can be written', () =>
  expect(price([item(1, '999999999999999999.999999', 'USDC')], { USDC: rate('1') }, 6)).toBe(10n ** 24n - 1n));

test('refuses a total of zero and a total that is too large', () => {
  expect(() => price([item(1, '0')], { USD: rate('1') }, 6)).toThrow(/must be more than 0/);
  expect(() => price([item(1_000_000, '999999999999999999')], { USD: rate('1') }, 6)).toThrow(/18 digits/);
});

test('rounds a rate half to even at 18 decimals and refuses a rate of zero', () => {
  expect(crossRate(parseDecimal('1'), parseDecimal('3'))).toBe('0.333333333333333333');
  expect(crossRate(parseDecimal('2'), parseDecimal('3'))).toBe('0.666666666666666667');
  expect(crossRate(parseDecimal('20'), parseDecimal('2'))).toBe('10');
  expect(crossRate(parseDecimal('1.50'), parseDecimal('0.3'))).toBe('5');
  expect(() => crossRate(parseDecimal('0.000000000000000001'), parseDecimal('10'))).toThrow(RangeError);
});

test('the total is the exact sum, rounded up to the minor unit', () => {
  const cents = fc.bigInt(1n, 10n ** 12n);
  const quantity = fc.integer({ min: 1, max: 10 ** 9 }).map((millionths) => millionths / 1e6);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(quantity, cents), { minLength: 1, maxLength: 5 }),
      fc.bigInt(1n, 10n ** 20n),
      fc.nat({ max: 18 }),
      (lines, units, decimals) => {
        const rates = { USD: rate(`${units / 10n ** 18n}.${String(units % 10n ** 18n).padStart(18, '0')}`) };
        const items = lines.map(([amount, minor]) =>
          item(amount, `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`),
        );
        // The same sum over one denominator: millionths of a piece, cents, 18 decimals of the rate.
        const exact = lines.reduce(
          (sum, [amount, minor]) => sum + BigInt(Math.round(amount * 1e6)) * minor * units,
          0n,
        );
        const scale = 10n ** BigInt(6 + 2 + 18 - decimals);
        const total = price(items, rates, decimals);
        expect(total * scale >= exact && (total - 1n) * scale < exact).toBe(true);
      },
    ),
  );
});

describe('with discounts, taxes and shipping', () => {
  const SCALE = { MXN: 2n, USD: 2n, JPY: 0n, KWD: 3n, USDC: 6n } as const;
  type Currency = keyof typeof SCALE;
  const currencies = Object.keys(SCALE) as Currency[];
  /** A line, and what it costs in minor units of its currency times 1,000,000. */
  const anyLine = fc
    .record({
      millionths: fc.integer({ min: 1, max: 5 * 10 ** 6 }),
      minor: fc.bigInt(0n, 10n ** 9n),
      currency: fc.constantFrom(...currencies),
      kind: fc.constantFrom('product', 'discount', 'tax', 'shipping', undefined),
    })
    .map(({ millionths, minor, currency, kind }) => {
      const signed = kind === 'discount' ? -minor : minor;
      const price = fromMinor(minor, Number(SCALE[currency]));
      const unit_price = kind === 'discount' ? `-${price}` : price;
      const line: Item = { name: 'x', quantity: millionths / 1e6, unit_price, currency, ...(kind && { kind }) };
      return { line, currency, cost: BigInt(millionths) * signed };
    });
  const lines = fc.array(anyLine, { minLength: 1, maxLength: 8 });
  const anyRate = fc.bigInt(1n, 10n ** 20n).map((units) => rate(formatDecimal({ units, scale: 18 })));
  const anyRates = fc.record({ MXN: anyRate, USD: anyRate, JPY: anyRate, KWD: anyRate, USDC: anyRate });
  const costsOf = (given: readonly { currency: Currency; cost: bigint }[]) =>
    currencies.map((currency) =>
      given.filter((each) => each.currency === currency).reduce((sum, { cost }) => sum + cost, 0n),
    );

  test('an order is refused exactly if the sum of a currency is negative, whatever the rates are', () => {
    fc.assert(
      fc.property(lines, (given) => {
        const refuse = () => refuseNegativeSums(sumsOf(given.map(({ line }) => line)));
        if (costsOf(given).some((cost) => cost < 0n)) expect(refuse).toThrow(/add up to -.*lower the discounts/);
        else expect(refuse).not.toThrow();
      }),
    );
  });

  test('the totals are exact, and never below zero at any rates', () => {
    const allowed = lines.filter((given) => {
      const costs = costsOf(given);
      return costs.every((cost) => cost >= 0n) && costs.some((cost) => cost > 0n);
    });
    fc.assert(
      fc.property(allowed, anyRates, fc.nat({ max: 18 }), (given, rates, decimals) => {
        const items = given.map(({ line }) => line);
        const costs = costsOf(given);
        for (const [currency, text] of Object.entries(itemTotals(items)) as [Currency, string][]) {
          const { units, scale } = parseDecimal(text);
          const wanted = costs[currencies.indexOf(currency)]!;
          expect(units * 10n ** (SCALE[currency] + 6n)).toBe(wanted * 10n ** BigInt(scale));
        }
        // One denominator for all: 18 decimals of rates, and 12 of lines.
        const exact = currencies.reduce((sum, currency, n) => {
          const { units } = parseDecimal(rates[currency].rate);
          return sum + costs[n]! * 10n ** (6n - SCALE[currency]) * units;
        }, 0n);
        const scale = 10n ** BigInt(12 + 18 - decimals);
        const total = price(items, rates, decimals);
        expect(total > 0n && total * scale >= exact && (total - 1n) * scale < exact).toBe(true);
      }),
    );
  });

  test('names the currency in which the discounts are too large', () => {
    const items = [item(1, '100', 'MXN'), { ...item(2, '-0.75'), kind: 'discount' as const }];
    expect(() => refuseNegativeSums(sumsOf(items))).toThrow(
      'items: the items in USD add up to -1.50: lower the discounts in USD, or give them in the currency of what they lower, so that the sum is at least 0',
    );
    expect(() => refuseNegativeSums(sumsOf([item(1, '1.5'), ...items]))).not.toThrow();
  });
});
