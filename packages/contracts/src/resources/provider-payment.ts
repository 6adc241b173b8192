import { z } from 'zod';
import { withExample } from '../example.ts';
import { PaymentCurrency } from '../currencies.ts';
import { EXAMPLE_IDS, PaymentId, Timestamp } from '../ids.ts';
import { AmountDto } from '../money.ts';
import { PaymentStatus } from './payment.ts';

const Id = z.string().regex(/^[\x21-\x7e]{1,128}$/, { error: 'must be 1 to 128 visible ASCII characters' });

/** A payment as its outside provider reports it, in a callback or in the answer to a query. The provider reports only
 *  money that it has for certain, so the payment is confirmed at once. */
export const ProviderPayment = withExample(
  z.object({
    order_id: Id.describe('The order that is paid, as in the request that created the payment page.'),
    external_reference_id: Id.describe("The provider's id of the payment. The same id is the same payment."),
    amount: AmountDto.describe('What was paid.'),
    currency: PaymentCurrency.describe('The currency of the amount.'),
    paid_at: Timestamp.optional().describe('When it was paid. By default when it is reported.'),
  }),
  {
    order_id: EXAMPLE_IDS.order,
    external_reference_id: 'acme-7f3a91',
    amount: '52.4722',
    currency: 'USDC',
    paid_at: '2026-01-31T12:04:02.000Z',
  },
);
export type ProviderPayment = z.infer<typeof ProviderPayment>;

/** The answer to a callback: the payment that was recorded for the report. */
export const RecordedProviderPayment = z.object({
  payment_id: PaymentId.describe('The payment: `pay_` and a ULID.'),
  status: PaymentStatus.describe('The state of the payment.'),
  has_order: z.boolean().describe('Whether the order exists. If not, the payment is an `orphan`.'),
});
export type RecordedProviderPayment = z.infer<typeof RecordedProviderPayment>;

/** `POST /providers/:name/callbacks` of payments -> 200 RecordedProviderPayment. The gateway passes a callback on, and
 *  payments checks the signature. Errors: 404 unknown provider, 401 `invalid_signature`, 400 for a body that is not a
 *  ProviderPayment, 409 `payment_conflict`. */
export const ProviderCallbackCall = z.object({
  /** The headers of the callback as received: seconds since 1970, and the HMAC of timestamp and body. */
  timestamp: z.string().optional(),
  signature: z.string().optional(),
  /** The bytes of the body, because the signature covers them: a ProviderPayment in JSON. */
  body_base64: z.string(),
});
export type ProviderCallbackCall = z.infer<typeof ProviderCallbackCall>;
