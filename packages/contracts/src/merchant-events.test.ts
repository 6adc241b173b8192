import { EXAMPLE_IDS } from './ids.ts';
import { MERCHANT_EVENTS, MerchantEvent, NewMerchantEvent } from './merchant-events.ts';

const AT = '2026-01-31T12:00:00.000Z';
const event = (data: object, type = 'ApiKeyChanged') => ({
  type,
  data: { merchantId: EXAMPLE_IDS.merchant, subject: EXAMPLE_IDS.apiKey, changes: {}, at: AT, ...data },
});
const isNew = (given: object) => NewMerchantEvent.safeParse(given).success;

test('a new event shows only fields of its type', () => {
  expect(isNew(event({ changes: { label: { before: null, after: 'Shop' } } }))).toBe(true);
  expect(isNew(event({ changes: { secret_hash: { before: 'a', after: 'b' } } }))).toBe(false);
  expect(isNew(event({ changes: { label: { after: 'Shop', secret: 'a' } } }))).toBe(false);
  expect(isNew(event({ secret: 'a' }))).toBe(false);
});

test('a new event is about a subject of its kind', () => {
  expect(isNew(event({ subject: EXAMPLE_IDS.user }))).toBe(false);
  expect(isNew(event({ subject: EXAMPLE_IDS.user }, 'UserDeleted'))).toBe(true);
});

test('an event that a newer version wrote is read', () => {
  expect(MerchantEvent.safeParse(event({ changes: { color: { after: 'red' } }, more: 1 })).success).toBe(true);
  expect(MerchantEvent.safeParse(event({}, 'ApiKeyPainted')).success).toBe(true);
});

test('no event has a field for a secret', () => {
  for (const { type } of MERCHANT_EVENTS) {
    const subject = Object.values(EXAMPLE_IDS).find((id) => isNew(event({ subject: id }, type)));
    expect({ type, subject }).toEqual({ type, subject: expect.any(String) });
    const names = ['secret', 'key', 'secret_hash', 'password', 'totp_box', 'xpub', 'token', 'url'];
    const shown = names.filter((name) => isNew(event({ subject, changes: { [name]: {} } }, type)));
    expect({ type, shown }).toEqual({ type, shown: [] });
  }
});
