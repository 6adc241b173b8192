import { z } from 'zod';
import { Timestamp } from './ids.ts';

/** The stream of the decimals that stored amounts have: one event per payment currency, written before its first
 *  amount. */
export const SCALES_STREAM = 'currency-scales';

/** Minor units of a currency in the events of this store have these decimals, for ever. */
export const CurrencyScaleRecorded = z.object({
  type: z.literal('CurrencyScaleRecorded'),
  data: z.object({ currency: z.string(), decimals: z.int(), at: Timestamp }),
});
export type CurrencyScaleRecorded = z.infer<typeof CurrencyScaleRecorded>;
