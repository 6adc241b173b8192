import { scalesOf } from '@cpg/contracts';
import { AppError } from '@cpg/contracts';
import { BODY_LIMIT_BYTES, createLogger, secretBox } from '@cpg/platform';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../../app.ts';
import { Scope } from '../keys/api-key.ts';

// Every route gets the worst inputs of the largest size that is allowed. Each may cost so many times as much processor
// time as a plain body of that size. An input whose time grows with the square of its size costs thousands of times.
const MAX_RATIO = 400;
const HEADER_BYTES = 15 * 1024;
const MERCHANT_ID = 'mer_01J8ZK4T2R8X9P5A6B7C8D9E0F';

const unavailable = async () => {
  throw new AppError('dependency_unavailable', 'there is no store in this test');
};
const store = new Proxy({}, { get: () => unavailable }) as never;
const noLimit = { consume: () => null, isEmpty: () => false, refund: () => {} };
const ULID = '01J8ZK4T2R8X9P5A6B7C8D9E0F';

let app: FastifyInstance;
let operations: Operation[];
let plainMs: number;

interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly fields: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
}

beforeAll(async () => {
  app = await buildApp({
    gate: { waitUntilOpen: async () => {} },
    environment: 'sandbox',
    scales: scalesOf({ CAZ_DECIMALS: 18 }),
    pool: store,
    orders: store,
    payments: store,
    dispatcher: store,
    authenticator: {
      authenticate: async () => ({
        by: 'key',
        actor: 'key:k',
        kid: 'k',
        keyId: 'key_k',
        merchantId: MERCHANT_ID,
        scopes: new Set(Scope.options),
        paymentMethods: [],
        isDisabled: false,
      }),
      merchantOf: () => MERCHANT_ID,
      environment: 'sandbox',
    },
    onScopeUse: () => {},
    pepper: 'pepper of the tests, thirty-two characters',
    limits: { requests: noLimit, failures: noLimit, lookups: noLimit },
    box: secretBox(['0123456789abcdefghijklmnopqrstuv']),
    instanceName: () => 'test',
    checkUrl: async () => {},
    allowLocalUrls: false,
    ready: {},
    payPage: { script: Buffer.alloc(0), streams: { max: 0, maxPerAddress: 0 } },
    now: () => new Date(),
    endsBy: () => new Date(),
    log: createLogger({ name: 'test', level: 'silent' }),
    trustProxy: ['127.0.0.1', '10.0.0.0/8'],
  });
  operations = operationsOf((await app.inject('/openapi.json')).json());
  plainMs = Math.max(await costOf(() => post(plainBody())), 0.5);
});
afterAll(() => app.close());

const plainBody = (): string => JSON.stringify({ metadata: { text: 'x'.repeat(BODY_LIMIT_BYTES - 100) } });

const send = (method: Operation['method'], url: string, headers: Record<string, string> = {}, payload?: string) =>
  app.inject({ method, url, headers: { 'x-api-key': 'any', ...headers }, ...(payload !== undefined && { payload }) });

const post = (payload: string, url = '/v1/orders', method: Operation['method'] = 'POST') =>
  send(method, url, { 'content-type': 'application/json', 'idempotency-key': 'key' }, payload);

/** Processor time in ms of the cheapest run. Runs again only above the limit. */
const costOf = async (run: () => Promise<unknown>): Promise<number> => {
  let least = Infinity;
  for (let runs = 0; runs < 3 && least > (plainMs ?? 0) * MAX_RATIO; runs += 1) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
};

/** The inputs that cost too much, with their ratio to a plain body. */
const tooCostly = async (inputs: Iterable<[name: string, run: () => Promise<unknown>]>): Promise<string[]> => {
  const found: string[] = [];
  for (const [name, run] of inputs) {
    const ratio = (await costOf(run)) / plainMs;
    if (ratio > MAX_RATIO) found.push(`${name}: ${Math.round(ratio)} times a plain body`);
  }
  return found;
};

const repeated = (part: string, bytes: number): string =>
  part.repeat(Math.floor(bytes / Buffer.byteLength(part))).slice(0, bytes);

/** Texts that make expressions with repetitions go back: long runs that end in the wrong character. */
const texts = (bytes: number): string[] => {
  const runs = [
    '0',
    'a',
    ' ',
    '/',
    '.',
    ':',
    '%',
    '-',
    '\\',
    '"',
    ',',
    ';',
    '=',
    '0,',
    'a:',
    '1.',
    ' ;',
    '\u00df',
    '\u200b',
  ];
  return runs.map((run) => `${repeated(run, bytes)}${/[01a]/.test(run) ? '\u0001' : '1'}`);
};
const numbers = (bytes: number): string[] => [
  `1${'0'.repeat(bytes)}1`,
  `0.${'0'.repeat(bytes)}1`,
  `1e${'9'.repeat(bytes)}`,
  `${'9'.repeat(bytes)}.${'9'.repeat(9)}`,
];

describe('bodies', () => {
  const SIZE = BODY_LIMIT_BYTES - 100;
  const many = (element: (n: number) => string, open = '[', close = ']'): string => {
    const parts: string[] = [];
    for (let n = 0, length = 0; length < SIZE - 40; n += 1) {
      const part = element(n);
      parts.push(part);
      length += part.length + 1;
    }
    return `${open}${parts.join(',')}${close}`;
  };
  const values: [string, string][] = [
    ...texts(SIZE / 2).map((text): [string, string] => [`text ${text.slice(0, 2)}`, JSON.stringify(text)]),
    ...numbers(SIZE).map((number): [string, string] => [`number ${number.slice(0, 4)}`, number]),
    ['numbers', many(() => '9e999')],
    ['short numbers', many(() => '1')],
    ['short numbers with an exponent', many(() => '1e1')],
    ['texts', many(() => '""')],
    ['arrays', many(() => '[]')],
    ['objects', many(() => '{}')],
    ['objects with a field', many(() => '{"a":1}')],
    ['different keys', many((n) => `"${n.toString(36)}":1`, '{', '}')],
    ['array indexes as keys', many((n) => `"${n * 65_536}":1`, '{', '}')],
    ['one key again and again', many(() => '"a":1', '{', '}')],
    ['depth', `${'['.repeat(SIZE / 2)}${']'.repeat(SIZE / 2)}`],
    ['depth of objects', `${'{"a":'.repeat(SIZE / 7)}1${'}'.repeat(SIZE / 7)}`],
    ['an open text', `"${'\\"'.repeat(SIZE / 2)}`],
    ['a long key with numbers', `{"${'k'.repeat(SIZE / 2)}":[${repeated('9e999,', SIZE / 2 - 20)}9e999]}`],
    ['a long key of objects', `{"${'k'.repeat(SIZE / 2)}":[${repeated('{},', SIZE / 2 - 20)}{}]}`],
  ];

  test('the whole body', async () => {
    const inputs = values.map(([name, value]): [string, () => Promise<unknown>] => [name, () => post(value)]);
    expect(await tooCostly(inputs)).toEqual([]);
  });

  test('metadata', async () => {
    const inputs = values.map(([name, value]): [string, () => Promise<unknown>] => [
      name,
      () => post(`{"metadata":${value}}`),
    ]);
    expect(await tooCostly(inputs)).toEqual([]);
  });

  // The others are refused before the schema of a route, or cost every route the same.
  const forSchemas = values.filter(
    ([name]) => name.startsWith('text ') || ['texts', 'short numbers', 'a long key of objects'].includes(name),
  );
  test('each field of each route', async () => {
    const inputs = operations.flatMap(({ method, path, fields }) =>
      fields.flatMap((field) =>
        forSchemas.map(([name, value]): [string, () => Promise<unknown>] => [
          `${method} ${path} ${field}: ${name}`,
          () => post(nested(field, value), path, method),
        ]),
      ),
    );
    expect(inputs.length).toBeGreaterThan(500);
    expect(await tooCostly(inputs)).toEqual([]);
  }, 600_000);

  test('forms of the sandbox and callbacks of providers', async () => {
    const paths = ['/pay/ref/sandbox/pay-all', '/v1/providers/acme/payments'];
    const inputs = paths.flatMap((path) =>
      values.map(([name, value]): [string, () => Promise<unknown>] => [
        `${path}: ${name}`,
        () => send('POST', path, { 'content-type': 'application/x-www-form-urlencoded' }, value),
      ]),
    );
    expect(await tooCostly(inputs)).toEqual([]);
  });
});

test('headers', async () => {
  const names = [
    ...['authorization', 'x-api-key', 'idempotency-key', 'accept', 'accept-language', 'accept-encoding', 'cookie'],
    ...['content-type', 'content-encoding', 'x-request-id', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
    ...['x-provider-signature', 'x-provider-timestamp', 'host', 'origin', 'range', 'if-none-match', 'last-event-id'],
    ...['x-deadline-ms', 'sec-fetch-site', 'sec-fetch-dest', 'referer', 'user-agent', 'te', 'expect-ct', 'forwarded'],
  ];
  const routes: [Operation['method'], string][] = [
    ['GET', '/pay/none'],
    ['GET', '/v1/orders'],
    ['POST', '/v1/orders'],
    ['POST', '/v1/providers/acme/payments'],
    ['POST', '/pay/none/sandbox/pay-all'],
  ];
  const values = [...texts(HEADER_BYTES), ...numbers(HEADER_BYTES), ...headerLists(HEADER_BYTES)].filter(
    // eslint-disable-next-line no-control-regex -- Node refuses them
    (text) => !/[\u0000-\u0008\u000a-\u001f\u0100-\uffff]/.test(text),
  );
  const inputs = routes.flatMap(([method, path]) =>
    names.flatMap((name) =>
      values.map((value): [string, () => Promise<unknown>] => [
        `${method} ${path} ${name}: ${value.slice(0, 3)}`,
        () => send(method, path, { [name]: value }, method === 'POST' ? '{}' : undefined),
      ]),
    ),
  );
  expect(await tooCostly(inputs)).toEqual([]);
}, 600_000);

const headerLists = (bytes: number): string[] =>
  [
    'en,',
    'en;q=0.1,',
    'br;q=0.1, ',
    '10.0.0.1, ',
    '::1,',
    'a=b; ',
    'text/html;q=1,',
    '"a", ',
    'for=10.0.0.1;',
    'W/"a", ',
  ].map((part) => repeated(part, bytes));

test('paths and queries', async () => {
  const encoded = texts(HEADER_BYTES / 3).map((text) =>
    encodeURIComponent(text).slice(0, HEADER_BYTES).replace(/%.?$/, ''),
  );
  const parts = [...encoded, ...numbers(HEADER_BYTES), repeated('%25', HEADER_BYTES), repeated('a/', HEADER_BYTES)];
  const queries = [
    ...parts,
    repeated('a&', HEADER_BYTES),
    repeated('a=1&', HEADER_BYTES),
    repeated('lang=en&', HEADER_BYTES),
  ];
  const lists = operations.filter(({ method }) => method === 'GET');
  const inputs: [string, () => Promise<unknown>][] = [
    ...['/', '/pay/', '/v1/orders/', '/v1/', '/pay/none/', '/pay/assets/', '/pay/logos/'].flatMap((path) =>
      parts.map((part): [string, () => Promise<unknown>] => [
        `${path}${part.slice(0, 9)}`,
        () => send('GET', path + part),
      ]),
    ),
    ...['/pay/none', '/v1/orders', '/docs'].flatMap((path) =>
      queries.map((query): [string, () => Promise<unknown>] => [
        `${path}?${query.slice(0, 9)}`,
        () => send('GET', `${path}?${query}`),
      ]),
    ),
    ...lists.flatMap(({ path, parameters }) =>
      parameters
        .filter((parameter) => parameter.in === 'query')
        .flatMap(({ name }) =>
          parts.map((part): [string, () => Promise<unknown>] => [
            `${path}?${name}=${part.slice(0, 9)}`,
            () => send('GET', `${path}?${name}=${part}`),
          ]),
        ),
    ),
  ];
  expect(await tooCostly(inputs)).toEqual([]);
}, 600_000);

/** `{"a":{"b":[value]}}` for `a.b[]`. */
const nested = (field: string, value: string): string =>
  field
    .split('.')
    .reverse()
    .reduce(
      (inner, name) => (name.endsWith('[]') ? `{"${name.slice(0, -2)}":[${inner}]}` : `{"${name}":${inner}}`),
      value,
    );

/** The operations of the document, with the paths of all fields of their bodies. */
/* eslint-disable @typescript-eslint/no-explicit-any -- it reads arbitrary parts of the document */
const operationsOf = (document: any): Operation[] => {
  const resolve = (schema: any): any =>
    schema?.$ref ? resolve(document.components.schemas[schema.$ref.split('/').at(-1)]) : schema;
  const fieldsOf = (schema: any): string[] => {
    const { properties = {} } = resolve(schema) ?? {};
    return Object.entries<any>(properties).flatMap(([name, property]) => {
      const { items } = resolve(property);
      const inner = items
        ? fieldsOf(items).map((field) => `${name}[].${field}`)
        : fieldsOf(property).map((field) => `${name}.${field}`);
      return [name, ...inner];
    });
  };
  return Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, { requestBody, parameters = [] }]) => ({
      method: method.toUpperCase() as Operation['method'],
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => `${PREFIXES[name] ?? prefixOf(path)}${ULID}`),
      fields: fieldsOf(requestBody?.content['application/json']?.schema),
      parameters,
    })),
  );
};
/* eslint-enable @typescript-eslint/no-explicit-any */

const PREFIXES: Record<string, string> = { delivery_id: 'dlv_', provider: '' };
const prefixOf = (path: string): string => (/webhooks/.test(path) ? 'whk_' : /payments/.test(path) ? 'pay_' : 'ord_');
