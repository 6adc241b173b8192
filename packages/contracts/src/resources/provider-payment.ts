import { z } from 'zod';
import { PaymentCurrency } from '../currencies.ts';
import { PaymentId, Timestamp } from '../ids.ts';
import { AmountDto } from '../money.ts';
import { PaymentStatus } from './payment.ts';

const Id = z.string().regex(/^[\x21-\x7e]{1,128}$/, { error: 'must be 1 to 128 visible ASCII characters' });

/** A payment as its provider reports it, in a callback or in the answer to a query. The provider guarantees it. */
export const ProviderPayment = z.object({
  order_id: Id,
  /** The provider's id of the payment: the same id is the same payment. */
  external_reference_id: Id,
  amount: AmountDto,
  currency: PaymentCurrency,
  /** When the payer paid; by default when the report came. */
  paid_at: Timestamp.optional(),
});
export type ProviderPayment = z.infer<typeof ProviderPayment>;

export const RecordedProviderPayment = z.object({
  payment_id: PaymentId,
  status: PaymentStatus,
  /** False if the payment names no known order: it is an orphan. */
  has_order: z.boolean(),
});
export type RecordedProviderPayment = z.infer<typeof RecordedProviderPayment>;

/** `POST /providers/:name/callbacks` -> 200 RecordedProviderPayment. Payments checks the signature.
 *  Errors: 404 unknown provider, 401 `invalid_signature`, 400, 409 `payment_conflict`. */
export const ProviderCallbackCall = z.object({
  timestamp: z.string().optional(),
  signature: z.string().optional(),
  body_base64: z.string(),
});
export type ProviderCallbackCall = z.infer<typeof ProviderCallbackCall>;
