import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  ERROR_CODES,
  ErrorBody,
  exampleOf,
  MerchantCreateOrderDto,
  WebhookEventType,
  WebhookPayload,
} from '@cpg/contracts';
import { WebhookCreated } from '../api/webhooks/webhook-schemas.ts';
import { breakingChanges, type OpenApi } from './breaking-changes.ts';
import { COMPONENTS } from '../openapi/components.ts';
import { openApiDocument } from './document.ts';
import { ABOUT_EVENTS } from '../openapi/events.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read arbitrary parts of the document
let document: any;
let committed: OpenApi;

beforeAll(async () => {
  document = await openApiDocument();
  committed = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')) as OpenApi;
});

const operations = () =>
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read arbitrary parts of the document
  Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly maxItems?: number;
}

/** The operations of `/v1` that need an API key. */
const merchantOperations = () =>
  operations().filter(([name]) => name.includes('/v1/') && !name.includes('/v1/providers/'));

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
    'DELETE /v1/users/{id}',
    'DELETE /v1/webhooks/{id}',
    'GET /health',
    'GET /health/ready',
    'GET /v1/api-keys',
    'GET /v1/api-keys/{id}',
    'GET /v1/currencies',
    'GET /v1/deliveries',
    'GET /v1/merchants/me',
    'GET /v1/merchants/me/audit-log',
    'GET /v1/merchants/me/deposit-settings',
    'GET /v1/merchants/me/overview',
    'GET /v1/merchants/me/payment-page',
    'GET /v1/orders',
    'GET /v1/orders/{id}',
    'GET /v1/orders/{id}/deliveries',
    'GET /v1/orders/{id}/history',
    'GET /v1/payments',
    'GET /v1/payments/{id}',
    'GET /v1/refunds',
    'GET /v1/refunds/{id}',
    'GET /v1/reports/balances',
    'GET /v1/reports/settlements',
    'GET /v1/reports/settlements.csv',
    'GET /v1/reports/volume',
    'GET /v1/requests',
    'GET /v1/roles',
    'GET /v1/users',
    'GET /v1/users/{id}',
    'GET /v1/webhooks',
    'GET /v1/webhooks/{id}',
    'GET /v1/webhooks/{id}/deliveries',
    'GET /v1/webhooks/{id}/deliveries/{delivery_id}',
    'GET /v1/webhooks/{id}/health',
    'GET /v1/webhooks/{id}/replays',
    'GET /v1/webhooks/{id}/replays/{replay_id}',
    'PATCH /v1/api-keys/{id}',
    'PATCH /v1/merchants/me',
    'PATCH /v1/orders/{id}',
    'PATCH /v1/users/{id}',
    'PATCH /v1/webhooks/{id}',
    'POST /debug/orders/{id}/advance-time',
    'POST /debug/payments/{id}/confirm',
    'POST /debug/payments/{id}/fail',
    'POST /debug/register-payment',
    'POST /debug/test-webhook',
    'POST /v1/api-keys',
    'POST /v1/api-keys/{id}/revoke',
    'POST /v1/api-keys/{id}/rotate',
    'POST /v1/orders',
    'POST /v1/orders/{id}/accept',
    'POST /v1/orders/{id}/cancel',
    'POST /v1/orders/{id}/capture',
    'POST /v1/orders/{id}/refund',
    'POST /v1/payments/{id}/refund',
    'POST /v1/providers/{provider}/payments',
    'POST /v1/refunds/{id}/cancel',
    'POST /v1/refunds/{id}/claim',
    'POST /v1/refunds/{id}/request',
    'POST /v1/users',
    'POST /v1/users/{id}/sign-in-links',
    'POST /v1/webhooks',
    'POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    'POST /v1/webhooks/{id}/replay',
    'POST /v1/webhooks/{id}/replays/{replay_id}/cancel',
    'POST /v1/webhooks/{id}/rotate-secret',
    'PUT /v1/merchants/me/payment-page',
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
    const security = { '/v1': [{ apiKey: [] }], '/de': [{}, { apiKey: [] }], '/he': [] };
    if (name.includes('/v1/providers/')) expect(operation.security).toEqual([{ providerSignature: [] }]);
    else expect(operation.security).toEqual(security[name.split(' ')[1]!.slice(0, 3) as '/v1']);
  }
});

test('every /v1 operation lists its error responses and scope, and every POST its idempotency key', () => {
  for (const [name, operation] of merchantOperations()) {
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
    expect(description).toMatch(/Needs the scope `[a-z:-]+`\./);
    const key = { $ref: '#/components/parameters/Idempotency-Key' };
    if (name.startsWith('POST')) expect(parameters).toContainEqual(key);
    else expect(parameters).not.toContainEqual(key);
  }
});

test('every /v1 success response refers to a named schema, so that it may get new fields', () => {
  for (const [name, operation] of merchantOperations()) {
    const { responses } = operation as { responses: Record<string, { content?: Record<string, { schema: object }> }> };
    const { 'text/csv': csv, ...content } = (responses[200] ?? responses[201])?.content ?? {};
    if (csv) continue;
    const schema = content['application/json']?.schema;
    expect({ name, schema }).toEqual({ name, schema: { $ref: expect.stringMatching(/^#\/components\/schemas\//) } });
  }
});

test('every operation, parameter, header and field has a description', () => {
  const missing: string[] = [];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read arbitrary parts of the document
  const check = (where: string, part: any) => {
    if (!part.$ref && !part.description) missing.push(where);
  };
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const checkFields = (where: string, schema: any) => {
    for (const [field, value] of Object.entries(schema.properties ?? {})) {
      check(`${where}.${field}`, { ...(value as object), $ref: undefined });
      checkFields(`${where}.${field}`, value);
    }
    if (schema.items) checkFields(where, schema.items);
  };
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  for (const [name, operation] of operations() as [string, any][]) {
    check(name, operation);
    for (const parameter of operation.parameters ?? []) check(`${name} ${parameter.name}`, parameter);
    for (const [status, response] of Object.entries(operation.responses)) check(`${name} ${status}`, response);
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) checkFields(name, schema);
  for (const tag of document.tags) check(tag.name, tag);
  expect(missing).toEqual([]);
});

test('the parameters of lists describe their defaults', () => {
  const parameters = document.paths['/v1/orders'].get.parameters as { name: string; description: string }[];
  const texts = Object.fromEntries(parameters.map(({ name, description }) => [name, description]));
  expect(texts).toMatchObject({
    page: expect.stringContaining('By default 1.'),
    limit: expect.stringContaining('By default 10.'),
    sort: expect.stringContaining('By default `desc`.'),
  });
});

test('the operations of the tag Sandbox are those under /debug', () => {
  const ofSandbox = operations().filter(([, { tags }]) => tags.includes('Sandbox'));
  expect(ofSandbox.length).toBeGreaterThan(4);
  expect(ofSandbox).toEqual(operations().filter(([name]) => name.includes(' /debug/')));
});

// The document leaves out the routes of the dashboard.
const OF_SESSIONS = [
  ...['sign_in_failed', 'code_required', 'link_invalid', 'cross_site_request', 'totp_enabled', 'sign_in_again'],
  'too_many_passkeys',
];

test('every error response has an example of each of its codes', () => {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const codes = (operations() as [string, any][]).flatMap(([name, { responses }]) =>
    Object.entries(responses as Record<string, { content?: Record<string, { examples?: object }> }>)
      .filter(([status]) => Number(status) >= 400 && !name.includes('/health'))
      .flatMap(([status, { content }]) => {
        const examples = Object.entries<{ value: ErrorBody }>((content?.['application/json']?.examples ?? {}) as never);
        expect({ name, status, count: examples.length }).not.toMatchObject({ count: 0 });
        for (const [code, { value }] of examples) {
          expect(ErrorBody.parse(value)).toMatchObject({ code, statusCode: Number(status) });
        }
        return examples.map(([code]) => code);
      }),
  );
  const neverDocumented = ['method_not_allowed', 'headers_too_large', 'internal_error', ...OF_SESSIONS];
  expect([...new Set(codes)].sort()).toEqual(
    Object.keys(ERROR_CODES)
      .filter((code) => !neverDocumented.includes(code))
      .sort(),
  );
});

/** What generators of clients do not understand, or make poor code of, by its place in the document. */
const faultsFor = (fault: (node: Record<string, unknown>, place: string) => boolean): string[] => {
  const search = (node: unknown, place: string): string[] => {
    if (typeof node !== 'object' || node === null) return [];
    const found = !Array.isArray(node) && fault(node as Record<string, unknown>, place) ? [place] : [];
    const inner = Object.entries(node).filter(([name]) => !['example', 'examples'].includes(name));
    return [...found, ...inner.flatMap(([name, part]) => search(part, `${place}/${name}`))];
  };
  return search(document, '');
};
const resolved = ({ $ref }: { $ref: string }) => document.components.schemas[$ref.split('/').at(-1)!];
const isSchemaName = (place: string) => /^\/components\/schemas\/\w+$/.test(place);

// A type per place, like `Currency5`.
test('each enum with a choice is a named schema', () => {
  expect(faultsFor((node, place) => Array.isArray(node.enum) && node.enum.length > 1 && !isSchemaName(place))).toEqual(
    [],
  );
});

test.each<[string, (node: Record<string, unknown>) => boolean]>([
  // In Java the text of a boolean constant does not compile.
  ['a constant', ({ const: only }) => only !== undefined],
  // OpenAPI 3.0 has a boolean in its place.
  ['an exclusive bound', (node) => 'exclusiveMinimum' in node || 'exclusiveMaximum' in node],
  // A type that no language has.
  ['a negation, or a sum of schemas', (node) => 'not' in node || 'allOf' in node],
  ['null as an alternative', ({ anyOf = [], oneOf = [] }) => JSON.stringify([anyOf, oneOf]).includes('"null"')],
  // Clients always send it: a page beside a cursor is refused.
  ['a default', (node) => 'default' in node && !('2XX' in node)],
  // Java, Python, Go and PHP each lack one of these.
  [
    'an expression that is not portable',
    ({ pattern }) => typeof pattern === 'string' && /\\[pPu]|\(\?[=!<]/.test(pattern),
  ],
])('the document does not have %s, which breaks generated clients', (_, fault) => expect(faultsFor(fault)).toEqual([]));

test('each enum that may grow says so, and lists its values as an open list', () => {
  const schemas = Object.entries<{ enum?: string[]; description: string }>(document.components.schemas);
  const enums = schemas.filter(([, schema]) => (schema.enum?.length ?? 0) > 1);
  const isOpen = ([, schema]: (typeof enums)[number]) => 'x-extensible-enum' in schema;
  expect(enums.filter((each) => !isOpen(each)).map(([name]) => name)).toEqual([
    'RefundCurrency',
    'RefundPart',
    'RefundSettlement',
    'SimulatedOutcome',
    'SortOrder',
    'UserStatusChange',
  ]);
  for (const [, schema] of enums.filter(isOpen)) {
    expect(schema).toMatchObject({ 'x-extensible-enum': schema.enum, type: 'string' });
    expect(schema.description).toContain('New values can be added');
  }
});

test('no body is optional but that of a cancel, whose first clients send none, and none may be null', () => {
  const withBody = operations().filter(([, { requestBody }]) => requestBody);
  expect(withBody.length).toBeGreaterThan(5);
  for (const [name, { operationId, requestBody: body }] of withBody) {
    const schema = { $ref: expect.any(String) };
    const required = operationId !== 'cancelOrder';
    expect([name, body]).toEqual([name, { required, content: { 'application/json': { schema } } }]);
  }
});

// Elements of a list without a bound get one error each: thousands of times the work of the request.
test('each list in a body has a bound on its length', () => {
  const unbounded = (schema: Schema, where: string): string[] => {
    const name = schema.$ref?.split('/').at(-1);
    if (name) return unbounded(document.components.schemas[name], name);
    const parts = Object.entries(schema).filter(([, part]) => typeof part === 'object' && part !== null);
    return [
      ...(schema.type === 'array' && schema.maxItems === undefined ? [where] : []),
      ...parts.flatMap(([key, part]) => unbounded(part as Schema, `${where}.${key}`)),
    ];
  };
  const bodies = operations().flatMap(([, { requestBody }]) => requestBody?.content['application/json'].schema ?? []);
  expect(bodies.length).toBeGreaterThan(15);
  expect([...new Set(bodies.flatMap((body) => unbounded(body, 'body')))]).toEqual([]);
});

test('each list continues at the `cursor` that is the `next_cursor` of the page before', () => {
  const lists = operations().filter(([, { operationId }]) => String(operationId).startsWith('list'));
  expect(lists.length).toBeGreaterThan(6);
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read arbitrary parts of the document
  for (const [, operation] of lists as [string, any][]) {
    const names = operation.parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['cursor', 'limit']));
    expect(names).not.toContain('after');
    const { properties } = resolved(operation.responses[200].content['application/json'].schema);
    expect(properties).toMatchObject({ next_cursor: { type: 'string' } });
  }
});

test('every event is described as a request with its signature headers', () => {
  expect(Object.keys(document.webhooks)).toEqual(WebhookEventType.options);
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  for (const [event, { post }] of Object.entries<any>(document.webhooks)) {
    const headers = post.parameters.map(({ name }: { name: string }) => name);
    expect(headers).toEqual(expect.arrayContaining(['x-signature', 'x-idempotency-key', 'webhook-signature']));
    const { schema, example } = post.requestBody.content['application/json'];
    expect(WebhookPayload.parse(example)).toMatchObject({ ...example, event });
    const payload = resolved(schema);
    expect(resolved(payload.properties.event).enum).toContain(event);
  }
});

test.each([
  ['WebhookPayload', 'object_type'],
  ['DepositInstruction', 'rail'],
  ['HistoryEntry', 'type'],
])('the variants of %s are told by %s', (name, propertyName) => {
  const { discriminator, oneOf } = document.components.schemas[name];
  expect(discriminator.propertyName).toBe(propertyName);
  const variants = Object.entries<string>(discriminator.mapping);
  expect(variants.map(([, $ref]) => ({ $ref }))).toEqual(oneOf);
  for (const [value, $ref] of variants) {
    const { properties, required } = resolved({ $ref });
    expect(properties[propertyName]).toMatchObject({ type: 'string', enum: [value] });
    expect(required).toContain(propertyName);
  }
});

test('the recipe for x-signature in the document accepts a genuine request and no other', async () => {
  const code = /```js\n(import \{ createHmac[^]*?)```/.exec(ABOUT_EVENTS)![1]!;
  const source = `${code}\nexport default isGenuine;`;
  const { default: isGenuine } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const { secret } = exampleOf(WebhookCreated);
  const t = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`evt_1.${t}.{}`)
    .digest('hex');
  const headers = { 'x-signature': `t=${t},v1=${'0'.repeat(64)},v1=${mac}`, 'x-idempotency-key': 'evt_1' };
  expect(isGenuine('{}', headers, secret)).toBe(true);
  expect(isGenuine('{ }', headers, secret)).toBe(false);
  expect(isGenuine('{}', { ...headers, 'x-signature': `t=${t - 600},v1=${mac}` }, secret)).toBe(false);
});

test('each example of a named schema matches it, and each field of a new order has one', () => {
  const shown = Object.entries<{ examples?: unknown[] }>(document.components.schemas).filter(
    ([, each]) => each.examples,
  );
  expect(shown.length).toBeGreaterThan(20);
  for (const [name, { examples = [] }] of shown)
    for (const example of examples)
      expect([name, COMPONENTS[name]!.safeParse(example).error]).toEqual([name, undefined]);
  const unset = ['underpayment_tolerance_percent'];
  expect(Object.keys(exampleOf(MerchantCreateOrderDto)).sort()).toEqual(
    Object.keys(MerchantCreateOrderDto.shape)
      .filter((field) => !unset.includes(field))
      .sort(),
  );
});

test('the document does not break clients of the committed one', () => {
  expect(breakingChanges(committed, document)).toEqual([]);
});

test('the committed document is current: `pnpm --filter @cpg/gateway openapi` regenerates it', () => {
  expect(document).toEqual(committed);
});
