import { derivedId, PAYMENT_STREAM_PREFIX, type PaymentRail } from '@cpg/contracts';

/** The id of a payment: `pay_` and 128 bits of SHA-256 over its rail and provider id, encoded as a ULID. The same
 *  payment always gets the same id and stream, so a repeated report is found; see docs/adr/0004. */
export const paymentIdOf = (rail: PaymentRail, providerId: string): string =>
  derivedId('payment', `${rail}\n${providerId}`);

/** The provider id of a payment that takes the place of a deleted one: its money was seen again after its payment
 *  failed and its order was deleted with it. A tombstoned stream takes no events. */
export const providerIdAfterDeletion = (providerId: string): string => `${providerId}${AFTER_DELETION}`;

const AFTER_DELETION = '#after-deletion';

export const isAfterDeletion = (providerId: string): boolean => providerId.endsWith(AFTER_DELETION);

/** The event stream of a payment. */
export const paymentStreamOf = (paymentId: string): string => `${PAYMENT_STREAM_PREFIX}${paymentId}`;
