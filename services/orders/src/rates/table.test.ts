import { join } from 'node:path';
import { ItemCurrency, PaymentCurrency } from '@cpg/contracts';
import { readRateTable } from './table.ts';

test('the table of the sandbox prices every currency', () => {
  const { usd } = readRateTable(join(import.meta.dirname, '../../config/sandbox-rates.json'));
  const currencies = [...PaymentCurrency.options, ...ItemCurrency.options];
  expect(currencies.filter((currency) => usd[currency] === undefined)).toEqual([]);
});
