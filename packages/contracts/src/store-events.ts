import { z } from 'zod';
import { Timestamp } from './ids.ts';

/** The stream that identifies an event store. It has one event, written by the first service that uses the store. */
export const STORE_STREAM = 'store-identity';

/** The identity of an event store and the environment that its events belong to. */
export const StoreIdentified = z.object({
  type: z.literal('StoreIdentified'),
  data: z.object({
    /** `sto_` and a ULID: two stores never have the same one, and a restored backup keeps its own. */
    storeId: z.string(),
    environment: z.string(),
    at: Timestamp,
  }),
});
export type StoreIdentified = z.infer<typeof StoreIdentified>;
