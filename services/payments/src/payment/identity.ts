import { createHash } from 'node:crypto';
import { ID_PREFIXES, type PaymentRail } from '@cpg/contracts';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID_LENGTH = 26;
const BYTES = 16;

/** The id of a payment: `pay_` and 128 bits of SHA-256 over its rail and provider id, encoded as a ULID. The same
 *  payment always gets the same id and stream, so a repeated report is found; see docs/adr/0004. */
export const paymentIdOf = (rail: PaymentRail, providerId: string): string => {
  const digest = createHash('sha256').update(`${rail}\n${providerId}`).digest().subarray(0, BYTES);
  let rest = BigInt(`0x${digest.toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < ULID_LENGTH; digit += 1) {
    text = CROCKFORD[Number(rest % 32n)] + text;
    rest /= 32n;
  }
  return `${ID_PREFIXES.payment}_${text}`;
};

/** The names of the event streams of payments start with this prefix. */
export const PAYMENT_STREAM_PREFIX = 'payment-';

/** The event stream of a payment. */
export const paymentStreamOf = (paymentId: string): string => `${PAYMENT_STREAM_PREFIX}${paymentId}`;
