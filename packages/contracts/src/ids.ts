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
  orderRefund: 'orf',
  replay: 'rpl',
  apiKey: 'key',
  user: 'usr',
  session: 'ses',
  passkey: 'pky',
} as const;

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID_LENGTH = 26;

/** The id that a text always gets: 128 bits of its SHA-256, written as a ULID. It contains no time. */
export const derivedId = (kind: keyof typeof ID_PREFIXES, text: string): string => {
  const bits = BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 32)}`);
  const letterAt = (index: number) => CROCKFORD[Number((bits >> BigInt(5 * (ULID_LENGTH - 1 - index))) & 31n)];
  return `${ID_PREFIXES[kind]}_${Array.from({ length: ULID_LENGTH }, (_, index) => letterAt(index)).join('')}`;
};

/** The ids in examples. */
export const EXAMPLE_IDS = {
  merchant: 'mer_01KG9Q0A1B2C3D4E5F6G7H8J9K',
  order: 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C',
  payment: 'pay_01KG9Q3D4E5F6G7H8J9K0M1N2P',
  webhook: 'whk_01KG9Q4F5G6H7J8K9M0N1P2Q3R',
  event: 'evt_01KG9Q2T8Q1A2B3C4D5E6F7G8H',
  delivery: 'dlv_01KG9Q2T8R7M5N3V1X0Z4Y6W8S',
  refund: 'rfd_01KG9Q4B5C6D7E8F9G0H1J2K3M',
  orderRefund: 'orf_01KG9Q4B5C6D7E8F9G0H1J2K3N',
  replay: 'rpl_01KG9Q2T8R7M5N3V1X0Z4Y6W9R',
  apiKey: 'key_01KG9Q0B2C3D4E5F6G7H8J9K0M',
  user: 'usr_01KG9Q0C3D4E5F6G7H8J9K0M1N',
  session: 'ses_01KG9Q0D4E5F6G7H8J9K0M1N2P',
  passkey: 'pky_01KG9Q0E5F6G7H8J9K0M1N2P3Q',
} as const satisfies Record<keyof typeof ID_PREFIXES, string>;

const idOf = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_${ULID}$`), { error: `must be ${prefix}_ and a ULID` });

export const MerchantId = idOf(ID_PREFIXES.merchant);
export const OrderId = idOf(ID_PREFIXES.order);
export const PaymentId = idOf(ID_PREFIXES.payment);
export const WebhookId = idOf(ID_PREFIXES.webhook);
export const EventId = idOf(ID_PREFIXES.event);
export const DeliveryId = idOf(ID_PREFIXES.delivery);
export const RefundId = idOf(ID_PREFIXES.refund);
export const OrderRefundId = idOf(ID_PREFIXES.orderRefund);
export const ReplayId = idOf(ID_PREFIXES.replay);
export const ApiKeyId = idOf(ID_PREFIXES.apiKey);
export const UserId = idOf(ID_PREFIXES.user);
export const SessionId = idOf(ID_PREFIXES.session);
export const PasskeyId = idOf(ID_PREFIXES.passkey);

/** An instant in a resource or an event: ISO 8601, UTC, milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 });

// Fields that many resources have.
export const OwnerId = MerchantId.describe('The merchant that owns it: `mer_` and a ULID.');
export const CreatedAt = Timestamp.describe('When it was created: ISO 8601, UTC, milliseconds.');
export const UpdatedAt = Timestamp.describe('When it last changed: ISO 8601, UTC, milliseconds.');
