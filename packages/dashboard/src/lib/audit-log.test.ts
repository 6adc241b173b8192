import { changeInWords, pageOfSubject } from './audit-log.ts';

const words = {
  fields: { label: 'name', is_enabled: 'enabled', allowed_ips: 'addresses' },
  ...{ yes: 'yes', no: 'no', nothing: 'nothing', unrecorded: (field: string) => `${field}: not recorded` },
};

test.each([
  [{ field: 'role', before: 'viewer', after: 'support' }, 'role: viewer → support'],
  [{ field: 'role', before: null, after: 'support' }, 'role: support'],
  [{ field: 'label', before: 'Shop', after: null }, 'name: Shop → nothing'],
  [{ field: 'is_enabled', before: false, after: true }, 'enabled: no → yes'],
  [{ field: 'scopes', before: ['a', 'b'], after: ['b', 'c'] }, 'scopes: +c, −a'],
  [{ field: 'scopes', before: ['a', 'b'], after: ['b', 'a'] }, 'scopes: a, b → b, a'],
  [{ field: 'allowed_ips', before: null, after: [] }, 'addresses: nothing'],
  [{ field: 'filter', before: null, after: { shop: 'b2c' } }, 'filter: {"shop":"b2c"}'],
  [{ field: 'name' }, 'name: not recorded'],
  [{ field: 'of_a_newer_version', before: 1, after: 2 }, 'of_a_newer_version: 1 → 2'],
  [{ field: 'constructor', before: null, after: 'x' }, 'constructor: x'],
])('%j in words', (change, text) => expect(changeInWords(change, words)).toBe(text));

test.each([
  ['ApiKeyRevoked', 'key_1', '/api-keys'],
  ['UserChanged', 'usr_1', '/settings/users'],
  ['WebhookChanged', 'whk_1', '/webhooks/whk_1'],
  ['PaymentPageChanged', 'mer_1', '/settings/payment-page'],
  ['OrderDefaultsChanged', 'mer_1', '/settings/profile'],
])('%s of %s is shown on %s', (type, subject, page) => expect(pageOfSubject(type, subject)).toBe(page));
