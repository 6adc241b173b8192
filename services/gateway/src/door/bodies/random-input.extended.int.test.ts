import { newUlid } from '@cpg/platform';
import fc from 'fast-check';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderBody } from '../../testing/jest-resources.ts';

let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

const text = fc.string({ unit: 'binary', maxLength: 40 });
const value = fc.oneof(fc.jsonValue(), text, fc.double(), fc.constantFrom('1e400', '\0', '\ud800', '-0'));
const field = fc.constantFrom(
  ...Object.keys(orderBody()),
  'url',
  'events',
  'is_enabled',
  'order_id',
  'amount',
  'reason',
  'minutes',
  '__proto__',
);
const body = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(field, value).map((more) => ({ ...orderBody(), ...more })),
  fc.dictionary(field, value),
);
const id = fc
  .oneof(text, fc.constant(`ord_${newUlid()}`), fc.constant(`whk_${newUlid()}`), fc.constant(`pay_${newUlid()}`))
  .map(encodeURIComponentSafely);
const target = fc.oneof(
  fc.constantFrom('POST /v1/orders', 'POST /v1/webhooks', 'POST /debug/register-payment', 'POST /debug/test-webhook'),
  id.map((part) => `PATCH /v1/orders/${part}`),
  id.map((part) => `POST /v1/orders/${part}/cancel`),
  id.map((part) => `POST /v1/payments/${part}/refund`),
  id.map((part) => `POST /debug/payments/${part}/fail`),
  id.map((part) => `POST /debug/orders/${part}/advance-time`),
  id.map((part) => `PATCH /v1/webhooks/${part}`),
  id.map((part) => `GET /v1/orders/${part}`),
  fc
    .dictionary(
      fc.constantFrom('page', 'limit', 'sort', 'from_date', 'to_date', 'status', 'external_reference_id', 'x'),
      text,
    )
    .map(
      (query) =>
        `GET /v1/orders?${Object.entries(query)
          .map(([name, part]) => `${name}=${encodeURIComponentSafely(part)}`)
          .join('&')}`,
    ),
);

test('random input never causes a 500, and every error has the error format', async () => {
  await fc.assert(
    fc.asyncProperty(
      target,
      body,
      fc.option(text.filter((key) => /^[\x20-\x7e]*$/.test(key))),
      async (where, content, key) => {
        const [method, url] = where.split(' ') as ['GET' | 'POST' | 'PATCH', string];
        const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
        const sent = method === 'GET' ? undefined : JSON.stringify(content);
        const response = await shop.send(method, url, sent, headers);
        expect({ where, status: response.status < 500 }).toEqual({ where, status: true });
        if (response.status >= 400)
          expect(response.body).toMatchObject({ statusCode: response.status, code: expect.any(String) });
      },
    ),
    { numRuns: 400 },
  );
});

/** Replaces text with a lone surrogate, which encodeURIComponent refuses, by bytes that are not valid UTF-8. */
function encodeURIComponentSafely(part: string): string {
  try {
    return encodeURIComponent(part);
  } catch {
    return '%ed%a0%80';
  }
}
