import { readFileSync } from 'node:fs';
import { AppError, ItemCurrency, parseDecimal, PaymentCurrency } from '@cpg/contracts';
import { ConfigError } from '@cpg/platform';
import { z } from 'zod';
import { crossRate } from '../order/pricing.ts';
import type { RateProvider } from './rates.ts';

const Price = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .refine((text) => parseDecimal(text).units > 0n, { error: 'must be more than zero' });

// Other fields, such as a note for readers, are allowed.
const RateTable = z.object({
  source: z.string().min(1),
  dated: z.iso.date(),
  usd: z.partialRecord(z.union([ItemCurrency, PaymentCurrency]), Price),
});
export type RateTable = z.infer<typeof RateTable>;

/** Reads a dated table of prices in US dollars. Throws ConfigError that names the file and the fault. */
export const readRateTable = (path: string): RateTable => {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new ConfigError(`RATES_FILE ${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  const parsed = RateTable.safeParse(content);
  if (!parsed.success) throw new ConfigError(`RATES_FILE ${path} is not valid:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
};

/** Rates from a fixed table, computed through the US dollar. `source` is the source that the table names. */
export const tableRates = (table: RateTable): RateProvider => ({
  quote: async (base, currency, now) => {
    const [from, to] = [table.usd[base], table.usd[currency]];
    if (!from || !to)
      throw new AppError('rate_unavailable', `the rate table has no price for ${from ? currency : base}`);
    return { rate: crossRate(parseDecimal(from), parseDecimal(to)), source: table.source, quotedAt: now };
  },
});
