import { readFile } from 'node:fs/promises';
import { type OpenApi, breakingChanges } from './breaking-changes.ts';
import { openApiDocument } from './document.ts';
import * as examples from './examples.ts';
import {
  DeliveryWithAttempts,
  MerchantCreateOrderDto,
  Merchant,
  Order,
  Payment,
  Replay,
  Webhook,
} from '@cpg/contracts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read arbitrary parts of the document
let document: any;
let committed: OpenApi;

beforeAll(async () => {
  document = await openApiDocument();
  committed = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')) as OpenApi;
});

const operations = () =>
  Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );

test('the document describes API version 1.1.0 in OpenAPI 3.1', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.1.0' } });
});

test('the document contains every endpoint', () => {
  expect(
    operations()
      .map(([name]) => name)
      .sort(),
  ).toEqual([
    'DELETE /v1/orders/{id}',
    'DELETE /v1/webhooks/{id}',
    'GET /health',
    'GET /health/ready',
    'GET /v1/merchants/me',
    'GET /v1/orders',
    'GET /v1/orders/{id}',
    'GET /v1/orders/{id}/history',
    'GET /v1/payments',
    'GET /v1/payments/{id}',
    'GET /v1/refunds',
    'GET /v1/refunds/{id}',
    'GET /v1/webhooks',
    'GET /v1/webhooks/{id}',
    'GET /v1/webhooks/{id}/deliveries',
    'GET /v1/webhooks/{id}/deliveries/{delivery_id}',
    'PATCH /v1/orders/{id}',
    'PATCH /v1/webhooks/{id}',
    'POST /debug/orders/{id}/advance-time',
    'POST /debug/payments/{id}/confirm',
    'POST /debug/payments/{id}/fail',
    'POST /debug/register-payment',
    'POST /debug/test-webhook',
    'POST /v1/orders',
    'POST /v1/orders/{id}/cancel',
    'POST /v1/orders/{id}/capture',
    'POST /v1/payments/{id}/refund',
    'POST /v1/webhooks',
    'POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    'POST /v1/webhooks/{id}/replay',
    'POST /v1/webhooks/{id}/rotate-secret',
  ]);
});

test('every reference resolves, and every component is referenced', () => {
  const text = JSON.stringify(document);
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1]!);
  const targetOf = (reference: string) => reference.split('/').reduce((node, name) => node?.[name], document);
  expect(references.filter((reference) => !targetOf(reference))).toEqual([]);
  const schemas = Object.keys(document.components.schemas).map((name) => `components/schemas/${name}`);
  expect(schemas.filter((name) => !references.includes(name))).toEqual([]);
});

test('every operation has a unique id, a summary, a tag and security', () => {
  const all = operations() as [string, Record<string, never>][];
  expect(new Set(all.map(([, { operationId }]) => operationId)).size).toBe(all.length);
  for (const [name, operation] of all) {
    expect(operation).toMatchObject({ summary: expect.any(String), tags: [expect.any(String)] });
    const security = { '/v1': [{ apiKey: [] }], '/de': [{}, { apiKey: [] }], '/he': undefined };
    expect(operation.security).toEqual(security[name.split(' ')[1]!.slice(0, 3) as '/v1']);
  }
});

test('every /v1 operation lists its error responses and scope, and every POST its idempotency key', () => {
  for (const [name, operation] of operations().filter(([name]) => name.includes('/v1/'))) {
    const {
      responses,
      parameters = [],
      description,
    } = operation as {
      responses: object;
      parameters?: object[];
      description: string;
    };
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '403', '429', '503']));
    expect(description).toMatch(/Needs the scope `[a-z:]+`\./);
    const key = { $ref: '#/components/parameters/Idempotency-Key' };
    if (name.startsWith('POST')) expect(parameters).toContainEqual(key);
    else expect(parameters).not.toContainEqual(key);
  }
});

test('every /v1 success response refers to a named schema, so that it may get new fields', () => {
  for (const [name, operation] of operations().filter(([name]) => name.includes('/v1/'))) {
    const { responses } = operation as { responses: Record<string, { content?: Record<string, { schema: object }> }> };
    const schema = (responses[200] ?? responses[201])?.content?.['application/json']?.schema;
    expect({ name, schema }).toEqual({ name, schema: { $ref: expect.stringMatching(/^#\/components\/schemas\//) } });
  }
});

test('the examples match their schemas', () => {
  expect(MerchantCreateOrderDto.parse(examples.createOrder)).toEqual(examples.createOrder);
  expect(Order.parse(examples.order)).toEqual(examples.order);
  expect(Payment.parse(examples.payment)).toEqual(examples.payment);
  expect(Merchant.parse(examples.merchant)).toEqual(examples.merchant);
  expect(Webhook.parse(examples.webhook)).toEqual(examples.webhook);
  expect(DeliveryWithAttempts.parse(examples.deliveryWithAttempts)).toEqual(examples.deliveryWithAttempts);
  expect(Replay.parse(examples.replay)).toEqual(examples.replay);
});

test('the document does not break clients of the committed one', () => {
  expect(breakingChanges(committed, document)).toEqual([]);
});

test('the committed document is current: `pnpm --filter @cpg/gateway openapi` regenerates it', () => {
  expect(document).toEqual(committed);
});
