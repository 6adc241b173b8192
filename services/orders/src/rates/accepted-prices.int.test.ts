import { parseDecimal } from '@cpg/contracts';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import { MIGRATIONS } from '../migrations.ts';
import { acceptedPrices } from './accepted-prices.ts';

test('keeps the last price of each source and currency', async () => {
  const { pool, stop } = await migratedDatabase(MIGRATIONS);
  try {
    const { load, save } = acceptedPrices(pool);
    const price = (source: string, usd: string) => ({
      currency: 'BTC' as const,
      source,
      usd: parseDecimal(usd),
      at: new Date('2026-11-26T12:00:00.000Z'),
    });
    await save([price('kraken', '101250.5'), price('coinbase', '101300')]);
    await save([price('kraken', '0.000000000000000001')]);
    await save([]);
    const stored = await load();
    expect(stored).toHaveLength(2);
    expect(stored).toEqual(
      expect.arrayContaining([price('kraken', '0.000000000000000001'), price('coinbase', '101300')]),
    );
  } finally {
    await stop();
  }
});
