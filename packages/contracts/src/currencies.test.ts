import { configureCaz, decimalsOf } from './currencies.ts';

afterEach(() => configureCaz(18));

test.each([
  ['USDT', 6],
  ['USDC', 6],
  ['USDG', 6],
  ['BTC', 8],
  ['ETH', 18],
  ['CAZ', 18],
  ['MXN', 2],
  ['USD', 2],
  ['EUR', 2],
  ['ARS', 2],
] as const)('%s has %d decimals', (currency, decimals) => expect(decimalsOf(currency)).toBe(decimals));

test('the decimals of CAZ are what the deployment says', () => {
  configureCaz(4);
  expect(decimalsOf('CAZ')).toBe(4);
});

test.each([-1, 19, 1.5, NaN])('CAZ cannot have %d decimals', (decimals) => {
  expect(() => configureCaz(decimals)).toThrow(RangeError);
  expect(decimalsOf('CAZ')).toBe(18);
});
