import { formatDecimal, fromMinor, type ItemCurrency, priceDecimals } from '@cpg/contracts';
import fc from 'fast-check';
import { type LimitedPrice, price, priceLimits, sumsOf } from './pricing.ts';

const CURRENCIES = ['JPY', 'MXN', 'KWD', 'USDC'] as const satisfies readonly ItemCurrency[];

/** The total of one item at this price; null if it is refused. */
const totalOf = (currency: ItemCurrency, minor: bigint, { rate, decimals, stepMinor }: LimitedPrice): bigint | null => {
  const unit_price = fromMinor(minor, priceDecimals(currency));
  const locked = { rate, source: 'test', quoted_at: '', expires_at: '' };
  try {
    return price(
      sumsOf([{ name: 'x', quantity: 1, unit_price, currency }]),
      { [currency]: locked },
      decimals,
      stepMinor,
    );
  } catch {
    return null;
  }
};

test('the limits are exactly where orders begin and end to be accepted', () => {
  const anyPrice = fc.record({
    currency: fc.constantFrom(...CURRENCIES),
    rate: fc.bigInt(1n, 10n ** 24n).map((units) => formatDecimal({ units, scale: 18 })),
    decimals: fc.nat({ max: 18 }),
    stepMinor: fc.oneof(fc.constant(1n), fc.bigInt(1n, 10n ** 10n)),
    smallestMinor: fc.oneof(fc.bigInt(0n, 10n), fc.bigInt(0n, 10n ** 20n)),
  });
  fc.assert(
    fc.property(anyPrice, ({ currency, ...rest }) => {
      const given = { ...rest, priceDecimals: priceDecimals(currency) };
      const isTaken = (minor: bigint) => (totalOf(currency, minor, given) ?? -1n) >= given.smallestMinor;
      const limits = priceLimits(given);
      if (limits === null) return;
      const { minimum, maximum } = limits;
      expect([isTaken(minimum), isTaken(maximum)]).toEqual([true, true]);
      expect([minimum > 1n && isTaken(minimum - 1n), isTaken(maximum + 1n)]).toEqual([false, false]);
    }),
  );
});

test.each<[string, Partial<LimitedPrice>, object | null]>([
  ['one cent, where every total can be paid', {}, { minimum: 1n }],
  ['the cents of the smallest payment, rounded up', { smallestMinor: 10_000n, rate: '0.05' }, { minimum: 20n }],
  ['one yen, if less than a yen can be paid', { priceDecimals: 0, rate: '0.0064' }, { minimum: 1n }],
  ['the yen of the smallest payment', { priceDecimals: 0, rate: '0.0064', smallestMinor: 10_000n }, { minimum: 2n }],
  ['whole steps', { decimals: 18, stepMinor: 10n ** 10n, rate: '0.000001', smallestMinor: 1n }, { minimum: 1n }],
  [
    'the largest too, if two would be too much',
    { decimals: 0, rate: '9' + '0'.repeat(19) },
    { minimum: 1n, maximum: 1n },
  ],
  ['none at a rate that makes every total too large', { decimals: 0, rate: '1' + '0'.repeat(22) }, null],
])('the smallest sum is %s', (_, given, limits) => {
  const one = { rate: '1', priceDecimals: 2, decimals: 6, stepMinor: 1n, smallestMinor: 1n };
  const found = priceLimits({ ...one, ...given });
  if (limits === null) expect(found).toBeNull();
  else expect(found).toMatchObject(limits);
});
