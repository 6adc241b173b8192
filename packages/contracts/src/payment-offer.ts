import { z } from 'zod';
import { openObject } from './event-definition.ts';
import { PaymentId, Timestamp } from './ids.ts';
import { decimalsIn, toMinor } from './money.ts';
import { RecordedBlock, RecordedMetadata, RecordedMoney } from './recorded-values.ts';
import { MetadataDto } from './resources/metadata.ts';
import { Payment } from './resources/payment.ts';

const recordedFields = {
  paymentId: PaymentId,
  ...RecordedMoney,
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
export const OfferedPayment = z.strictObject({ ...recordedFields, metadata: MetadataDto.optional() });
export type OfferedPayment = z.infer<typeof OfferedPayment>;

/** The payment as its order recorded it. */
export const RecordedOfferedPayment = openObject(recordedFields);

/** A payment that payments offers to its order, in a call or by its message: the resource, and facts that it does
 *  not show. */
export const PaymentOffer = z.object({
  payment: Payment,
  /** When the rail first saw the money. */
  seen_at: Timestamp,
  /** When the rail confirmed the money; absent while it is unconfirmed. */
  confirmed_at: Timestamp.optional(),
  /** How often the rail has seen the money; 1 by default. */
  sighting: z.int().optional(),
  /** How often the block of the payment changed; 0 by default. */
  block_changes: z.int().optional(),
});
export type PaymentOffer = z.infer<typeof PaymentOffer>;

/** The payment in the form that its order records, in the minor units of the payment. */
export const offeredPayment = ({
  payment,
  seen_at,
  confirmed_at,
  sighting = 1,
  block_changes: blockChanges = 0,
}: PaymentOffer): OfferedPayment => {
  const decimals = decimalsIn(payment.paid_amount);
  return {
    paymentId: payment.id,
    rail: payment.payment_rail,
    providerId: payment.provider_id,
    currency: payment.currency,
    decimals,
    ...(payment.asset && { asset: payment.asset }),
    ...(payment.asset_label && { assetLabel: payment.asset_label }),
    ...(payment.credited === false && { credited: false }),
    amountMinor: String(toMinor(payment.paid_amount, decimals)),
    feeMinor: String(toMinor(payment.fee_amount, decimals)),
    txHash: payment.tx_hash,
    confirmations: payment.confirmations,
    ...(payment.block && { block: payment.block }),
    ...(blockChanges > 0 && { blockChanges, blockChangedAt: payment.updated_at }),
    metadata: payment.metadata,
    seenAt: seen_at,
    confirmedAt: confirmed_at,
    ...(sighting > 1 && { sighting, reinstatedAt: payment.updated_at }),
    receivedAt: payment.created_at,
  };
};
