import fc from 'fast-check';
import { ItemCurrency, priceDecimals } from '../currencies.ts';
import { faultsIn } from '../testing/jest-faults.ts';
import { ItemDto, Quantity } from './item.ts';

const item = { name: 'Coffee', quantity: 2, unit_price: '45.50', currency: 'MXN' as const };

describe('a quantity', () => {
  test.each([0.000001, 0.1, 1, 2.5, 999_999.999999, 1_000_000])('accepts %p', (value) => {
    expect(Quantity.safeParse(value).success).toBe(true);
  });

  test.each([0, -1, 1_000_000.000001, 0.0000001, 1e-7, 1.1234567, NaN, Infinity, '1', null])('refuses %p', (value) => {
    expect(Quantity.safeParse(value).success).toBe(false);
  });

  test('accepts every multiple of 0.000001 up to 1,000,000', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000_000 }), (millionths) => {
        expect(Quantity.safeParse(Number(`${millionths}e-6`)).success).toBe(true);
      }),
    );
  });
});

test('prices may be in the currencies of banks and in dollar tokens', () =>
  expect(ItemCurrency.options.join(' ')).toBe(
    'MXN USD EUR ARS BRL COP CLP PEN GBP CHF CAD AUD JPY KWD USDT USDC USDG',
  ));

describe('an item', () => {
  test('refuses a price with more decimals than its currency', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ItemCurrency.options), fc.integer({ min: 0, max: 18 }), (currency, decimals) => {
        const unit_price = decimals === 0 ? '1' : `1.${'1'.repeat(decimals)}`;
        const allowed = priceDecimals(currency);
        expect(faultsIn(ItemDto, { ...item, unit_price, currency })).toEqual(
          decimals <= allowed ? [] : [`unit_price: ${currency} has ${allowed} decimals, this amount has ${decimals}`],
        );
      }),
    );
  });

  test('accepts a price of zero', () => expect(ItemDto.safeParse({ ...item, unit_price: '0' }).success).toBe(true));

  test('reports the path of a modifier price with too many decimals', () => {
    const modifiers = [item, { ...item, unit_price: '0.123' }];
    expect(faultsIn(ItemDto, { ...item, modifiers })).toEqual([
      'modifiers.1.unit_price: MXN has 2 decimals, this amount has 3',
    ]);
  });

  test.each<[string, object, string[]]>([
    ['no kind', {}, []],
    ['a tax', { kind: 'tax' }, []],
    ['a discount', { kind: 'discount', unit_price: '-45.50' }, []],
    ['a discount of nothing', { kind: 'discount', unit_price: '0.00' }, []],
    [
      'a discount without a minus',
      { kind: 'discount', unit_price: '45.50' },
      ['unit_price: must be negative, because a discount lowers the total: "-45.50"'],
    ],
    ...[{}, { kind: 'product' }, { kind: 'tax' }, { kind: 'shipping' }].map((kind): [string, object, string[]] => [
      `a minus of ${JSON.stringify(kind)}`,
      { ...kind, unit_price: '-45.50' },
      ['unit_price: must not be negative: for an amount that lowers the total, give the item "kind": "discount"'],
    ]),
    [
      'a discount with too many decimals',
      { kind: 'discount', unit_price: '-0.125' },
      ['unit_price: MXN has 2 decimals, this amount has 3'],
    ],
  ])('has a minus in its price for a discount alone: %s', (_, differences, faults) =>
    expect(faultsIn(ItemDto, { ...item, ...differences })).toEqual(faults),
  );

  test('has no negative modifiers, also in a discount', () => {
    const discount = { ...item, kind: 'discount', unit_price: '-1', modifiers: [{ ...item, unit_price: '-1' }] };
    expect(faultsIn(ItemDto, discount)).toEqual([expect.stringMatching(/^modifiers\.0\.unit_price: /)]);
  });

  test('accepts up to 20 modifiers, and no modifiers of modifiers', () => {
    expect(ItemDto.safeParse({ ...item, modifiers: Array(20).fill(item) }).success).toBe(true);
    expect(ItemDto.safeParse({ ...item, modifiers: Array(21).fill(item) }).success).toBe(false);
    expect(ItemDto.safeParse({ ...item, modifiers: [{ ...item, modifiers: [] }] }).success).toBe(false);
  });
});
