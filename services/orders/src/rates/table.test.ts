import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ItemCurrency, PaymentCurrency } from '@cpg/contracts';
import { ConfigError } from '@cpg/platform';
import { readRateTable, tableRates } from './table.ts';

test('the table of the sandbox prices every currency', () => {
  const { usd } = readRateTable(join(import.meta.dirname, '../../config/sandbox-rates.json'));
  const currencies = [...PaymentCurrency.options, ...ItemCurrency.options];
  expect(currencies.filter((currency) => usd[currency] === undefined)).toEqual([]);
});

test.each([
  ['nothing', null, /cannot be read/],
  ['no JSON', 'BTC = 100000', /cannot be read/],
  [
    'a price of zero',
    JSON.stringify({ source: 'x', dated: '2026-01-31', usd: { BTC: '0.00' } }),
    /is not valid.*zero/s,
  ],
  ['a price that is no text', JSON.stringify({ source: 'x', dated: '2026-01-31', usd: { BTC: 1 } }), /is not valid/],
])('a table file with %s is refused, and named', (_, text, fault) => {
  const folder = mkdtempSync(join(tmpdir(), 'rates-'));
  const path = join(folder, 'rates.json');
  try {
    if (text !== null) writeFileSync(path, text);
    const read = () => readRateTable(path);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(path);
    expect(read).toThrow(fault);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a table prices one currency in another, and has no rate without both', async () => {
  const now = new Date('2026-01-31T12:00:00.000Z');
  const rates = tableRates({ source: 'table', dated: '2026-01-31', usd: { MXN: '0.05', USDC: '1' } });
  expect(await rates.quote('MXN', 'USDC', now)).toEqual({ rate: '0.05', source: 'table', quotedAt: now });
  await expect(rates.quote('EUR', 'USDC', now)).rejects.toThrow(/no price for EUR/);
  await expect(rates.quote('MXN', 'BTC', now)).rejects.toThrow(/no price for BTC/);
});
