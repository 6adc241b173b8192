import { ID_PREFIXES, type PaymentRail } from '@cpg/contracts';
import { ulidOf } from '@cpg/runtime';

/** The id of a payment: `pay_` and 128 bits of SHA-256 over its rail and provider id, encoded as a ULID. The same
 *  payment always gets the same id and stream, so a repeated report is found; see docs/adr/0004. */
export const paymentIdOf = (rail: PaymentRail, providerId: string): string =>
  `${ID_PREFIXES.payment}_${ulidOf(`${rail}\n${providerId}`)}`;

/** The names of the event streams of payments start with this prefix. */
export const PAYMENT_STREAM_PREFIX = 'payment-';

/** The event stream of a payment. */
export const paymentStreamOf = (paymentId: string): string => `${PAYMENT_STREAM_PREFIX}${paymentId}`;
