import { z } from 'zod';
import { PaymentCurrency, PaymentRail } from './currencies.ts';
import { openObject } from './event-definition.ts';
import { PaymentId, Timestamp } from './ids.ts';
import { Decimals, Minor } from './money.ts';
import { RecordedAsset, RecordedBlock, RecordedMetadata } from './recorded-values.ts';
import { MetadataDto } from './resources/metadata.ts';

const offeredPayment = {
  paymentId: PaymentId,
  rail: PaymentRail,
  providerId: z.string(),
  currency: PaymentCurrency,
  /** Decimals of the minor units of the payment. */
  decimals: Decimals,
  ...RecordedAsset,
  amountMinor: Minor,
  feeMinor: Minor,
  txHash: z.string().optional(),
  confirmations: z.int().optional(),
  block: RecordedBlock.optional(),
  /** How often its block changed, and when it last did. 0 by default. */
  blockChanges: z.int().optional(),
  blockChangedAt: Timestamp.optional(),
  metadata: RecordedMetadata.optional(),
  /** When the rail first saw the money. It is compared with the order's deadline and, if a chain shows the money, with
   *  the assignment of its addresses. */
  seenAt: Timestamp,
  /** When the rail confirmed the money. */
  confirmedAt: Timestamp.optional(),
  /** How often the rail has seen the money: one more after each failure, and once it is assigned. 1 by default. */
  sighting: z.int().optional(),
  /** When the rail saw the money again, or an operator assigned it. */
  reinstatedAt: Timestamp.optional(),
  receivedAt: Timestamp,
};

/** A payment as payments offers it to its order. */
export const OfferedPayment = z.strictObject({ ...offeredPayment, metadata: MetadataDto.optional() });
export type OfferedPayment = z.infer<typeof OfferedPayment>;

/** The payment as its order recorded it. */
export const RecordedOfferedPayment = openObject(offeredPayment);
