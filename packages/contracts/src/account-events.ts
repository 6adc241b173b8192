import { z } from 'zod';
import { Timestamp } from './ids.ts';

/** The names of the streams of deposit accounts start with this prefix; the BIP32 fingerprint of the account
 *  follows. */
export const ACCOUNT_STREAM_PREFIX = 'account-';

/** Derivation indexes of an account were reserved for new orders: those from `first` on, and those in `again`, which
 *  were reserved before and which no order shows. */
export const DerivationIndexesReserved = z.object({
  type: z.literal('DerivationIndexesReserved'),
  data: z.looseObject({
    account: z.string(),
    first: z.int(),
    count: z.int(),
    again: z.array(z.int()),
    /** No order gets these indexes: money arrived at the last one before it was reserved, because orders were lost with
     *  a restored backup. */
    skipped: z.boolean().optional(),
    at: Timestamp,
  }),
});
export type DerivationIndexesReserved = z.infer<typeof DerivationIndexesReserved>;
