import { z } from 'zod';
import { Timestamp } from './ids.ts';

/** The stream that identifies an event store. It has one event, written by the first service that uses the store. */
export const STORE_STREAM = 'store-identity';

/** The format of events from 0.2.0 on. In format 1, orders and payments had no decimals. In format 2, the hash of an
 *  event did not cover its metadata. */
export const STORE_FORMAT = 3;

/** The identity of an event store and the environment that its events belong to. */
export const StoreIdentified = z.object({
  type: z.literal('StoreIdentified'),
  data: z.object({
    /** `sto_` and a ULID: two stores never have the same one, and a restored backup keeps its own. */
    storeId: z.string(),
    environment: z.string(),
    /** Of the events in the store: `STORE_FORMAT`. Stores of versions before 0.2.0 have none. */
    format: z.number().optional(),
    at: Timestamp,
  }),
});
export type StoreIdentified = z.infer<typeof StoreIdentified>;

/** The stream of the decimals that stored amounts have: one event per payment currency, written before its first
 *  amount. */
export const SCALES_STREAM = 'currency-scales';

/** Minor units of a currency in the events of this store have these decimals, for ever. */
export const CurrencyScaleRecorded = z.object({
  type: z.literal('CurrencyScaleRecorded'),
  data: z.object({ currency: z.string(), decimals: z.int(), at: Timestamp }),
});
export type CurrencyScaleRecorded = z.infer<typeof CurrencyScaleRecorded>;
