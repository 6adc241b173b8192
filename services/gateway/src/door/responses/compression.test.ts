import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { compressResponses } from './compression.ts';

const app = Fastify();
const stored: unknown[] = [];
const text = (length: number) => ({ text: 'x'.repeat(length) });

beforeAll(async () => {
  await compressResponses(app);
  await app.register(async (v1) => {
    v1.addHook('onSend', async (_request, _reply, payload) => void stored.push(payload));
    v1.get('/large', async () => text(1024));
    v1.get('/huge', async () => text(300_000));
    v1.get('/small', async () => text(900));
    v1.get('/secret', { config: { responseHasSecret: true } }, async () => text(1024));
    v1.post('/echo', async (request) => request.body);
  });
});
afterAll(() => app.close());

const get = (url: string, encoding: string) => app.inject({ url, headers: { 'accept-encoding': encoding } });

test.each([
  ['gzip', 'gzip', gunzipSync],
  ['br, gzip', 'br', brotliDecompressSync],
  ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
])('a client that accepts %s gets %s', async (accepted, chosen, decompress) => {
  for (const [url, length] of [
    ['/large', 1024],
    ['/huge', 300_000],
  ] as const) {
    const answer = await get(url, accepted);
    expect(answer.headers).toMatchObject({ 'content-encoding': chosen, vary: 'accept-encoding' });
    expect(JSON.parse(decompress(answer.rawPayload).toString())).toEqual(text(length));
  }
});

test.each([
  ['a small response', '/small', 'gzip'],
  ['a response with a secret', '/secret', 'gzip'],
  ['a response to a client that accepts nothing', '/large', 'identity'],
])('%s is not compressed', async (_, url, accepted) => {
  const answer = await get(url, accepted);
  expect(answer.headers['content-encoding']).toBeUndefined();
  expect(answer.json()).toEqual(text(url === '/small' ? 900 : 1024));
});

test('hooks before it get the response as text, so that it can be stored', async () => {
  stored.length = 0;
  await get('/large', 'gzip');
  expect(stored).toEqual([JSON.stringify(text(1024))]);
});

test('a compressed request is not decompressed', async () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const answer = await app.inject({ method: 'POST', url: '/echo', headers, payload: '{"a":1}' });
  expect(answer.json()).toEqual({ a: 1 });
});
