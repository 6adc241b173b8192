import { createHash } from 'node:crypto';
import { z } from 'zod';

const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

/** The prefix of each kind of id. A ULID follows it: 26 characters of Crockford's base 32. */
export const ID_PREFIXES = {
  merchant: 'mer',
  order: 'ord',
  payment: 'pay',
  webhook: 'whk',
  event: 'evt',
  delivery: 'dlv',
  refund: 'rfd',
  replay: 'rpl',
} as const;

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID_LENGTH = 26;

/** The id that a text always gets: 128 bits of its SHA-256, written as a ULID. It contains no time. */
export const derivedId = (kind: keyof typeof ID_PREFIXES, text: string): string => {
  const bits = BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 32)}`);
  const letterAt = (index: number) => CROCKFORD[Number((bits >> BigInt(5 * (ULID_LENGTH - 1 - index))) & 31n)];
  return `${ID_PREFIXES[kind]}_${Array.from({ length: ULID_LENGTH }, (_, index) => letterAt(index)).join('')}`;
};

const idOf = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_${ULID}$`), { error: `must be ${prefix}_ and a ULID` });

export const MerchantId = idOf(ID_PREFIXES.merchant);
export const OrderId = idOf(ID_PREFIXES.order);
export const PaymentId = idOf(ID_PREFIXES.payment);
export const WebhookId = idOf(ID_PREFIXES.webhook);
export const EventId = idOf(ID_PREFIXES.event);
export const DeliveryId = idOf(ID_PREFIXES.delivery);
export const RefundId = idOf(ID_PREFIXES.refund);
export const ReplayId = idOf(ID_PREFIXES.replay);

/** An instant in a resource or an event: ISO 8601, UTC, milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 });

// Fields that many resources have.
export const OwnerId = MerchantId.describe('The merchant that owns it: `mer_` and a ULID.');
export const CreatedAt = Timestamp.describe('When it was created: ISO 8601, UTC, milliseconds.');
export const UpdatedAt = Timestamp.describe('When it last changed: ISO 8601, UTC, milliseconds.');
