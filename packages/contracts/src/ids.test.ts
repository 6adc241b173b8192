import { derivedId, ID_PREFIXES, OrderId, Timestamp } from './ids.ts';
import * as ids from './ids.ts';

const SCHEMAS = {
  merchant: ids.MerchantId,
  order: ids.OrderId,
  payment: ids.PaymentId,
  webhook: ids.WebhookId,
  event: ids.EventId,
  delivery: ids.DeliveryId,
  refund: ids.RefundId,
  replay: ids.ReplayId,
  apiKey: ids.ApiKeyId,
  user: ids.UserId,
  session: ids.SessionId,
  passkey: ids.PasskeyId,
};
const ULID = '01KGA4S9HN3P5R7T9V1X3Z5B7D';

test.each(Object.entries(SCHEMAS))('the id of one kind is not an id of another: %s', (kind, schema) => {
  for (const [other, prefix] of Object.entries(ID_PREFIXES)) {
    expect(schema.safeParse(`${prefix}_${ULID}`).success).toBe(other === kind);
  }
});

test.each([
  ['without a prefix', ULID],
  ['of small letters', `ord_${ULID.toLowerCase()}`],
  ['too short', `ord_${ULID.slice(1)}`],
  ['too long', `ord_${ULID}0`],
  ['with letters that Crockford left out', `ord_${ULID.slice(0, -1)}I`],
  ['past the year 10889', `ord_8${ULID.slice(1)}`],
  ['with a line end', `ord_${ULID}\n`],
])('an id %s is none', (_, id) => expect(OrderId.safeParse(id).success).toBe(false));

test('a timestamp is UTC with milliseconds, and exists', () => {
  expect(Timestamp.safeParse('2026-01-31T12:00:00.000Z').success).toBe(true);
  for (const text of [
    '2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00.000+00:00',
    '2026-02-30T12:00:00.000Z',
    '2026-01-31',
  ]) {
    expect(Timestamp.safeParse(text).success).toBe(false);
  }
});

test('a text always gets the same id, and another text another one', () => {
  expect(derivedId('payment', 'crypto_deposit\neip155:1/0xab')).toBe('pay_206EN3RX54GGY7EMSY6JJ30T66');
  expect(OrderId.safeParse(derivedId('order', '')).success).toBe(true);
  expect(derivedId('order', 'a')).not.toBe(derivedId('order', 'b'));
});
