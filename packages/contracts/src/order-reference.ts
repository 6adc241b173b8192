import { z } from 'zod';
import { openObject } from './event-definition.ts';
import { RecordedMetadata } from './recorded-values.ts';
import { MetadataDto } from './resources/metadata.ts';
import type { OrderReference } from './resources/order-reference.ts';

/** How a merchant knows an order, as events of a payment record it when the payment is first seen, or assigned to the
 *  order. Messages and webhooks about the payment carry this value, so an event always has the same bytes. */
export const RecordedOrderReference = openObject({
  externalReferenceId: z.string(),
  metadata: RecordedMetadata.optional(),
});
export type RecordedOrderReference = z.infer<typeof RecordedOrderReference>;

/** For new events. */
export const NewOrderReference = z.strictObject({
  externalReferenceId: z.string(),
  metadata: MetadataDto.optional(),
});

export const orderReferenceView = ({ externalReferenceId, metadata }: RecordedOrderReference): OrderReference => ({
  external_reference_id: externalReferenceId,
  ...(metadata && { metadata }),
});
