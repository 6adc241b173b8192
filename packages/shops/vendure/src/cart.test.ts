import { itemsOf } from '@cpg/shop-client';
import fc from 'fast-check';
import { cartOf, coveredBy, moneyOf, type VendureOrder } from './cart.ts';

const order = (changes: Partial<VendureOrder> = {}): VendureOrder => ({
  code: 'ABC',
  currencyCode: 'USD',
  totalWithTax: 2350,
  lines: [{ quantity: 2, linePriceWithTax: 2000, productVariant: { name: 'Tea pot' } }],
  shippingLines: [{ priceWithTax: 500, shippingMethod: { name: 'Post' } }],
  surcharges: [{ description: 'Wrapping', priceWithTax: 50 }],
  discounts: [{ description: 'Summer', amountWithTax: -200 }],
  ...changes,
});
const itemsIn = (given: VendureOrder, covered = 0) => {
  const cart = cartOf(given, covered, 2)!;
  return itemsOf(cart.lines, cart.total);
};

test('shows the lines of the order as the shopper sees them', () => {
  expect(itemsIn(order())).toEqual([
    { name: 'Tea pot', quantity: 2, unit_price: '10.00', currency: 'USD', kind: 'product' },
    { name: 'Wrapping', quantity: 1, unit_price: '0.50', currency: 'USD', kind: 'product' },
    { name: 'Post', quantity: 1, unit_price: '5.00', currency: 'USD', kind: 'shipping' },
    { name: 'Summer', quantity: 1, unit_price: '-2.00', currency: 'USD', kind: 'discount' },
  ]);
});

test('charges only what other payments have not covered', () => {
  expect(cartOf(order(), 1000, 2)).toMatchObject({ total: { minor: 1350n } });
  expect(itemsIn(order(), 1000)).toContainEqual(
    expect.objectContaining({ name: 'Paid already', unit_price: '-10.00' }),
  );
});

test.each([
  ['JPY', 150_000, 1500n],
  ['jpy', 150_050, 1501n],
  ['KWD', 1050, 10_500n],
  ['USD', 1050, 1050n],
])('%s %i of Vendure are %p minor units', (currency, amount, minor) => {
  expect(moneyOf(amount, currency, 2)).toMatchObject({ minor });
});

test('a currency that the gateway does not take is no cart', () => {
  expect(cartOf(order({ currencyCode: 'SEK' }), 0, 2)).toBeUndefined();
  expect(coveredBy({ SEK: '10.00' }, 1000, 'SEK', 2)).toBeUndefined();
});

test('a paid order covers exactly what it was made of, also where yen were rounded', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 ** 9 }), fc.constantFrom('USD', 'JPY', 'KWD', 'USDC'), (due, currency) => {
      const { minor } = moneyOf(due, currency, 2)!;
      fc.pre(minor > 0n);
      const cart = cartOf(order({ currencyCode: currency, totalWithTax: due }), 0, 2)!;
      expect(cart.total.minor).toBe(minor);
      const [item] = itemsOf([{ name: 'all', minor }], cart.total) as { unit_price: string }[];
      expect(coveredBy({ [currency]: item!.unit_price }, due, currency, 2)).toBe(due);
    }),
  );
});

test('a paid order of an older cart covers its own price', () => {
  expect(coveredBy({ USD: '10.00' }, 2350, 'USD', 2)).toBe(1000);
  expect(coveredBy({ JPY: '1500' }, 200_000, 'JPY', 2)).toBe(150_000);
  expect(coveredBy({ MXN: '10.00' }, 2350, 'USD', 2)).toBeUndefined();
});
