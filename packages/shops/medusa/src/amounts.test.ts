import { shownMoney } from '@cpg/shop-client';
import fc from 'fast-check';
import { moneyOf } from './amounts.ts';

test.each([
  [15.5, 'usd', 1550n],
  ['15.50', 'USD', 1550n],
  [{ value: '10.5' }, 'mxn', 1050n],
  [{ numeric: 0.1, raw: { value: '0.10' } }, 'eur', 10n],
  [{ numeric: 19.99 }, 'gbp', 1999n],
  [1505, 'jpy', 1505n],
  ['1.234', 'kwd', 1234n],
])('%p %s has %p minor units', (amount, code, minor) => {
  expect(moneyOf(amount, code)).toEqual({ minor, currency: code.toUpperCase() });
});

test('a currency that the gateway does not price in has no money', () => {
  expect(moneyOf(1, 'sek')).toBeUndefined();
});

test('every amount of cents comes back as it was', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 13n }), (minor) => {
      const text = shownMoney({ minor, currency: 'USD' }).replace(' USD', '');
      expect(moneyOf(text, 'usd')).toEqual({ minor, currency: 'USD' });
    }),
  );
});
