import { requestFingerprint } from './idempotency-key.ts';

const order = (body: unknown) => requestFingerprint({ method: 'POST', url: '/v1/orders', body });

test('the order of names does not change the fingerprint', () => {
  expect(order({ b: [{ y: 1, x: null }], a: 'z' })).toBe(order({ a: 'z', b: [{ x: null, y: 1 }] }));
});

test.each([
  ['the order of a list', [1, 2], [2, 1]],
  ['a value', { a: 1 }, { a: 2 }],
  ['the type of a value', { a: 1 }, { a: '1' }],
])('%s changes the fingerprint', (_, one, other) => {
  expect(order(one)).not.toBe(order(other));
});

test.each([
  [
    'without a body',
    { method: 'POST', url: '/v1/orders/ord_1/cancel' },
    'cbaea09e46a1562a9a0b934be9f1c59d90dde56d92763ce7ca1b10a43e991018',
  ],
  [
    'with names that are numbers',
    {
      method: 'POST',
      url: '/v1/orders',
      body: { metadata: { b: 'é 🎉', a: [{ z: 1, y: -0.5 }], 10: 'ten', 9: 'nine', '-': true }, items: [] },
    },
    '96215cd5fa423d50ca99046600531337b53c632e81091210a674a0e5fcb78b1c',
  ],
  [
    'with dates',
    {
      method: 'POST',
      url: '/v1/webhooks/whk_1/replay',
      body: { to_date: new Date('2026-02-01T00:00:00Z'), from_date: new Date('2026-01-31T00:00:00Z') },
    },
    '085895ae9d7618bda00e3334c5cffdf241422ee19be3cafb54b21c6f88dc5568',
  ],
])('a request %s keeps its fingerprint, because stored ones outlive the code', (_, request, stored) => {
  expect(requestFingerprint(request)).toBe(stored);
});
