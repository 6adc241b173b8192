import { ItemCurrency, MerchantCreateOrderDto } from '@cpg/contracts';
import fc from 'fast-check';
import { decimalsOf, minorOfDecimal, type Money } from './amount.ts';
import { type CartLine, itemsOf } from './items.ts';

const usd = (minor: bigint): Money => ({ minor, currency: 'USD' });
const itemsIn = (lines: readonly CartLine[], total: Money) => {
  const items = itemsOf(lines, total);
  if (typeof items === 'string') throw new Error(items);
  return items;
};

const LINE: fc.Arbitrary<CartLine> = fc.record({
  name: fc.string({ maxLength: 300 }),
  minor: fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }),
  quantity: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.double({ min: 0, max: 10, noNaN: true })),
  kind: fc.constantFrom('product', 'discount', 'tax', 'shipping'),
});

test('the items add up to the total to the minor unit, and the gateway takes them', () => {
  fc.assert(
    fc.property(
      fc.array(LINE, { maxLength: 130 }),
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      fc.constantFrom(...ItemCurrency.options),
      (lines, minor, currency) => {
        const items = itemsIn(lines, { minor, currency });
        const sum = items.reduce(
          (total, { quantity, unit_price }) =>
            total + BigInt(quantity) * minorOfDecimal(unit_price, decimalsOf(currency)),
          0n,
        );
        expect(sum).toBe(minor);
        expect(MerchantCreateOrderDto.shape.items.safeParse(items).error).toBeUndefined();
      },
    ),
  );
});

test('a line keeps its quantity where its price is a price of one unit', () => {
  expect(itemsIn([{ name: 'Tea pot', minor: 900n, quantity: 3 }], usd(900n))).toEqual([
    { name: 'Tea pot', quantity: 3, unit_price: '3.00', currency: 'USD', kind: 'product' },
  ]);
});

test('a line that its quantity does not divide is one unit', () => {
  expect(itemsIn([{ name: 'Tea pot', minor: 1000n, quantity: 3 }], usd(1000n))).toEqual([
    { name: '3 × Tea pot', quantity: 1, unit_price: '10.00', currency: 'USD', kind: 'product' },
  ]);
});

test('discount, shipping and tax are kinds of items; lines of nothing are left out', () => {
  const lines: CartLine[] = [
    { name: 'Tea pot', minor: 2000n },
    { name: 'Summer', minor: -500n },
    { name: 'Post', minor: 450n, kind: 'shipping' },
    { name: 'VAT', minor: 312n, kind: 'tax' },
    { name: 'Pick-up', minor: 0n, kind: 'shipping' },
  ];
  const items = itemsIn(lines, usd(2262n));
  expect(items.map(({ kind, unit_price }) => [kind, unit_price])).toEqual([
    ['product', '20.00'],
    ['discount', '-5.00'],
    ['shipping', '4.50'],
    ['tax', '3.12'],
  ]);
});

test.each([
  [1001n, { name: 'Other charges', kind: 'product', unit_price: '0.01' }],
  [999n, { name: 'Other discounts', kind: 'discount', unit_price: '-0.01' }],
])('a total of %p that the lines do not have gets an item of its own', (total, item) => {
  expect(itemsIn([{ name: 'Tea pot', minor: 1000n }], usd(total)).at(-1)).toMatchObject(item);
});

test('a cart without a total is no order', () => {
  expect(itemsOf([{ name: 'Gift', minor: 0n }], usd(0n))).toBe('nothing_to_pay');
});
