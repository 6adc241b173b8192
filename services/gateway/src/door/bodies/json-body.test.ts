import { gzipSync } from 'node:zlib';
import { createApp, createLogger } from '@cpg/platform';
import { z } from 'zod';
import { NoBody } from '../../api/ids.ts';
import { acceptJsonBodies } from './json-body.ts';
import { rejectUnstorableText } from './storable-text.ts';

const app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) });
acceptJsonBodies(app);
rejectUnstorableText(app);
const body = z.strictObject({ metadata: z.record(z.string(), z.json()) });
app.post('/orders', { schema: { body } }, async (request) => request.body);
const refund = z.strictObject({ amount: z.string() }).optional();
app.post('/refunds', { schema: { body: refund } }, async (request) => request.body ?? { amount: 'all' });
app.post('/orders/cancel', { schema: { body: NoBody } }, async () => ({ done: true }));
app.get(
  '/orders',
  { schema: { querystring: z.strictObject({ q: z.string().optional() }) } },
  async (request) => request.query,
);

afterAll(() => app.close());

const post = async (payload: string | Buffer, headers: Record<string, string> = {}, url = '/orders') => {
  const answer = await app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  });
  return { status: answer.statusCode, body: answer.json<{ message: string }>(), headers: answer.headers };
};
const text = '{"metadata":{"name":"Café"}}';

test('a body in UTF-8 is read, with a byte order mark or without', async () => {
  expect(await post(text)).toMatchObject({ status: 200, body: { metadata: { name: 'Café' } } });
  expect(await post(`\ufeff${text}`)).toMatchObject({ status: 200, body: { metadata: { name: 'Café' } } });
});

test.each([
  ['Latin-1', Buffer.from(text, 'latin1')],
  ['UTF-16', Buffer.from(text, 'utf16le')],
  [
    'UTF-8 with an encoded surrogate',
    Buffer.concat([Buffer.from('"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"')]),
  ],
])('a body in %s is refused', async (_, payload) => {
  expect(await post(payload)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', message: 'body: is not UTF-8 text: encode the JSON as UTF-8' },
  });
});

test('the body null is none where no body is needed, and refused elsewhere', async () => {
  const refused = { status: 400, body: { code: 'invalid_request', message: 'body: is null: send a JSON object' } };
  expect(await post('null')).toMatchObject(refused);
  expect(await post('null', {}, '/refunds')).toMatchObject(refused);
  expect(await post('', {}, '/refunds')).toMatchObject({ status: 200, body: { amount: 'all' } });
  expect(await post('null', {}, '/orders/cancel')).toMatchObject({ status: 200, body: { done: true } });
});

test.each([
  ['a compressed body', gzipSync(text), { 'content-encoding': 'gzip' }],
  ['a body of two encodings', gzipSync(text), { 'content-encoding': 'GZIP, br' }],
])('%s is refused with 415', async (_, payload, headers) => {
  const answer = await post(payload, headers);
  expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  expect(answer.body.message).toMatch(/content-encoding (gzip|gzip, br): send it uncompressed/);
  expect(answer.headers['accept-encoding']).toBe('identity');
});

test('the encoding identity changes nothing', async () => {
  expect((await post(text, { 'content-encoding': 'identity' })).status).toBe(200);
});

test.each([
  ['__proto__', '{"metadata":{"__proto__":{"admin":true}}}', 'metadata.__proto__: is a field name that is not allowed'],
  [
    'constructor.prototype',
    '{"metadata":{"constructor":{"prototype":{}}}}',
    'metadata.constructor.prototype: is a field name that is not allowed',
  ],
  ['a NUL', '{"metadata":{"a":"\\u0000"}}', 'metadata.a: must not contain NUL characters'],
  [
    'a lone surrogate',
    '{"metadata":{"a":"\\ud800"}}',
    'metadata.a: must not contain the lone surrogate \\ud800 (half of a character)',
  ],
  [
    'a large number',
    '{"metadata":{"id":12345678901234567890}}',
    'metadata.id: 12345678901234567890 does not fit a 64-bit floating-point number: send it as a string',
  ],
  ['a syntax error', '{"metadata":{},}', 'body: is not valid JSON, at character 16'],
  ['an empty body', '', 'body: is required: send a JSON object'],
])('the message for %s says what is wrong', async (_, payload, message) => {
  expect(await post(payload)).toMatchObject({ status: 400, body: { message } });
});

test.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain; charset=latin1', 'nonsense'])(
  'a request without a body may have the content type %s',
  async (type) => {
    expect(await post('', { 'content-type': type }, '/orders/cancel')).toMatchObject({ status: 200 });
    const headers = { 'content-type': type, 'content-length': '0' };
    expect(await post('', headers, '/orders/cancel')).toMatchObject({ status: 200 });
  },
);

test('a form is refused with 415', async () => {
  const type = 'application/x-www-form-urlencoded';
  expect(await post('a=1', { 'content-type': type }, '/orders/cancel')).toMatchObject({
    status: 415,
    body: { message: `the body is ${type}: send JSON with the header content-type: application/json` },
  });
});

test.each([
  ['/orders?q=%E9', 'q: must be UTF-8, percent-encoded'],
  ['/orders?q=%zz', 'q: must be UTF-8, percent-encoded'],
  ['/orders?q=1&q=2', 'q: must be given only once'],
  ['/orders?colour=red', 'colour: is not a known parameter: the only parameter is q'],
])('the query of %s is refused', async (url, message) => {
  const answer = await app.inject(url);
  expect({ status: answer.statusCode, message: answer.json<{ message: string }>().message }).toEqual({
    status: 400,
    message,
  });
});

test('a query in UTF-8 is read', async () => {
  expect((await app.inject('/orders?q=Caf%C3%A9+%E2%82%AC')).json()).toEqual({ q: 'Café €' });
});
