import { z } from 'zod';
import { type Method, refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const OpenApi = z.object({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        operationId: z.string(),
        summary: z.string(),
        responses: z.record(z.string(), z.unknown()),
        security: z.array(z.record(z.string(), z.unknown())).optional(),
      }),
    ),
  ),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});

const stack = sharedStack();
let shop: Shop;
let document: z.infer<typeof OpenApi>;

beforeAll(async () => {
  shop = await openShop(stack);
  const answer = await fetch(`${stack.baseUrl}/openapi.json`);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  document = OpenApi.parse(await answer.json());
});
afterAll(() => shop.api.close());

/** Every operation of the reference, and the extra ones of this version. */
const OPERATIONS = [
  'DELETE /v1/orders/{id}',
  'DELETE /v1/webhooks/{id}',
  'GET /health',
  'GET /health/ready',
  'GET /v1/merchants/me',
  'GET /v1/orders',
  'GET /v1/orders/{id}',
  'GET /v1/payments',
  'GET /v1/payments/{id}',
  'GET /v1/webhooks',
  'GET /v1/webhooks/{id}',
  'PATCH /v1/orders/{id}',
  'PATCH /v1/webhooks/{id}',
  'POST /debug/register-payment',
  'POST /debug/test-webhook',
  'POST /v1/orders',
  'POST /v1/orders/{id}/cancel',
  'POST /v1/orders/{id}/capture',
  'POST /v1/webhooks',
  'POST /v1/webhooks/{id}/rotate-secret',
];
const documented = () =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase() as Method,
      path,
      operation,
    })),
  );

test('the document is OpenAPI 3.1 of version 1.1.0, and has every operation of the reference', () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document.info.version).toBe('1.1.0');
  const names = documented().map(({ method, path }) => `${method} ${path}`);
  expect(names).toEqual(expect.arrayContaining(OPERATIONS));
  expect(new Set(documented().map(({ operation }) => operation.operationId)).size).toBe(names.length);
});

test('every documented operation is there, and answers with a status that is documented', async () => {
  for (const { method, path, operation } of documented()) {
    const url = path.replaceAll(/\{\w+\}/g, 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV');
    const answer = await shop.api.send(method, url);
    const asked = `${method} ${path}`;
    expect([asked, Object.keys(operation.responses)]).toEqual([asked, expect.arrayContaining([String(answer.status)])]);
    if (answer.status === 404)
      expect([asked, refusalOf(answer).message]).toEqual([asked, expect.stringMatching(/has this (id|name)(\.|:|$)/)]);
    expect([asked, answer.status < 500]).toEqual([asked, true]);
  }
});

test('what needs a key says so, and refuses without one', async () => {
  const isForProviders = ({ path }: { path: string }) => path.startsWith('/v1/providers/');
  const ofProviders = documented().filter(isForProviders);
  expect(ofProviders.map(({ operation }) => operation.security)).toEqual([[{ providerSignature: [] }]]);
  const forMerchants = documented().filter((each) => each.path.startsWith('/v1') && !isForProviders(each));
  for (const { method, path, operation } of forMerchants) {
    expect(operation.security).toEqual([{ apiKey: [] }]);
    const answer = await fetch(stack.baseUrl + path.replaceAll(/\{\w+\}/g, 'x'), { method });
    expect([method, path, answer.status]).toEqual([method, path, 401]);
  }
});

test('every reference inside the document leads somewhere', () => {
  const text = JSON.stringify(document);
  const names = new Set(
    [...text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)].map(([, kind, name]) => `${kind} ${name}`),
  );
  expect(names.size).toBeGreaterThan(10);
  for (const reference of names) {
    const [kind, name] = reference.split(' ') as [string, string];
    expect([reference, Object.keys((document.components[kind] as object | undefined) ?? {})]).toEqual([
      reference,
      expect.arrayContaining([name]),
    ]);
  }
});

test('a page shows it', async () => {
  const page = await fetch(`${stack.baseUrl}/docs`);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  const html = await page.text();
  // All it loads comes from here.
  const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => new URL(source!, page.url));
  expect(sources.length).toBeGreaterThan(0);
  for (const source of sources) {
    expect(source.origin).toBe(stack.baseUrl);
    expect([source.pathname, (await fetch(source)).status]).toEqual([source.pathname, 200]);
  }
});

describe('health', () => {
  test('of the process needs no key and says nothing else', async () => {
    const answer = await fetch(`${stack.baseUrl}/health`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
  });

  test('of what it depends on is good on every service', async () => {
    const { ORDERS_URL, PAYMENTS_URL, WEBHOOK_DISPATCHER_URL } = stack.environment;
    for (const url of [stack.baseUrl, ORDERS_URL, PAYMENTS_URL, WEBHOOK_DISPATCHER_URL]) {
      for (const path of ['/health', '/health/ready']) {
        const answer = await fetch(`${url}${path}`);
        expect([url, path, answer.status]).toEqual([url, path, 200]);
        expect(await answer.json()).toMatchObject({ status: 'ok' });
      }
    }
  });
});

test('answers carry security headers', async () => {
  const { headers } = await shop.api.send('POST', '/v1/orders', { body: orderBody() });
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
  });
  expect(headers).not.toHaveProperty('x-powered-by');
});

test('services refuse calls that do not carry the token they share', async () => {
  const { ORDERS_URL, PAYMENTS_URL, WEBHOOK_DISPATCHER_URL } = stack.environment;
  const calls = [`${ORDERS_URL}/orders`, `${PAYMENTS_URL}/payments`, `${WEBHOOK_DISPATCHER_URL}/test-deliveries`];
  for (const url of calls) {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect([url, answer.status]).toEqual([url, 401]);
  }
});
