import { ItemCurrency, priceDecimals } from '@cpg/contracts';
import fc from 'fast-check';
import { decimalsOf, decimalText, minorOfDecimal, priceCurrency, rescaled } from './amount.ts';

test.each(ItemCurrency.options)('%s has the decimals of the gateway', (currency) => {
  expect(priceCurrency(currency.toLowerCase())).toBe(currency);
  expect(decimalsOf(currency)).toBe(priceDecimals(currency));
});

test.each(['XXX', '', 'toString', 'USDX'])('%p is no price currency', (code) => {
  expect(priceCurrency(code)).toBeUndefined();
});

const DECIMALS = fc.integer({ min: 0, max: 18 });
const MINOR = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });

test('reads what it writes', () => {
  fc.assert(
    fc.property(MINOR, DECIMALS, (minor, decimals) => {
      expect(minorOfDecimal(decimalText(minor, decimals), decimals)).toBe(minor);
    }),
  );
});

test('reads the number of a shop as its shortest decimal', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: 0, max: 3 }), (cents, decimals) => {
      expect(minorOfDecimal(cents / 10 ** decimals, decimals)).toBe(BigInt(cents));
    }),
  );
});

test.each([
  [10.5, 2, 1050n],
  ['10.50', 2, 1050n],
  ['10.505', 2, 1051n],
  ['-10.505', 2, -1051n],
  ['10.5049999', 2, 1050n],
  [0.1 + 0.2, 2, 30n],
  [1e21, 2, 10n ** 23n],
  [1e-7, 2, 0n],
  ['.5', 0, 1n],
  ['5.', 3, 5000n],
  [' 7 ', 0, 7n],
  ['-0', 2, 0n],
])('%p with %i decimals is %p minor units', (amount, decimals, minor) => {
  expect(minorOfDecimal(amount, decimals)).toBe(minor);
});

test('is never more than half a minor unit away', () => {
  fc.assert(
    fc.property(MINOR, fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }), (fine, decimals, more) => {
      const minor = minorOfDecimal(decimalText(fine, decimals + more), decimals);
      const distance = fine - minor * 10n ** BigInt(more);
      expect((distance < 0n ? -distance : distance) * 2n).toBeLessThanOrEqual(10n ** BigInt(more));
    }),
  );
});

test.each(['', '.', 'ten', '1,50', '0x10', Number.NaN, Infinity, '1e99999', '--1'])('%p is no amount', (text) => {
  expect(() => minorOfDecimal(text, 2)).toThrow(RangeError);
});

test.each([
  [100_000n, 2, 0, 1000n],
  [100_050n, 2, 0, 1001n],
  [100_049n, 2, 0, 1000n],
  [-100_050n, 2, 0, -1001n],
  [1234n, 2, 3, 12_340n],
  [-100n, 2, 0, -1n],
  [12_345n, 3, 2, 1235n],
  [5n, 2, 2, 5n],
])('%p with %i decimals has %i as %p', (minor, from, to, expected) => {
  expect(rescaled(minor, from, to)).toBe(expected);
});
