import { addAmounts, compareAmounts, formatAmount, isZero, subtractAmounts } from './amounts.ts';

test.each([
  ['52.472200', '52.4722'],
  ['10.800000', '10.80'],
  ['1234567.000000', '1,234,567.00'],
  ['0.00012345', '0.00012345'],
  ['999999999999999999.999999', '999,999,999,999,999,999.999999'],
  ['-50.00', '-50.00'],
  ['100', '100'],
  ['5.5', '5.5'],
  ['not an amount', 'not an amount'],
])('shows %s as %s', (amount, shown) => expect(formatAmount(amount, 'en')).toBe(shown));

test('uses the separators of the language', () => expect(formatAmount('1234567.5', 'de')).toBe('1.234.567,5'));

test('adds and subtracts without a loss of digits', () => {
  expect(addAmounts('0.1', '0.2')).toBe('0.3');
  expect(addAmounts('999999999999999999.999999', '0.000001')).toBe('1000000000000000000.000000');
  expect(subtractAmounts('1', '1.000001')).toBe('-0.000001');
});

test('compares amounts of different decimals', () => {
  expect(compareAmounts('1.0', '1.000')).toBe(0);
  expect(compareAmounts('9.99', '10')).toBe(-1);
  expect(compareAmounts('-1', '-2')).toBe(1);
  expect(isZero('0.000000')).toBe(true);
});
