import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { compressResponses } from '../door/responses/compression.ts';
import { serveApiDocs } from './plugin.ts';

let app: FastifyInstance;

beforeAll(async () => {
  app = Fastify();
  await compressResponses(app);
  await serveApiDocs(app);
});
afterAll(() => app.close());

// Anyone may ask for the document: to compress it for each request takes 12 ms of a processor.
test.each([
  ['br', 'br', brotliDecompressSync],
  ['gzip, deflate', 'gzip', gunzipSync],
  ['*', undefined, (body: Buffer) => body],
] as const)('the document is not compressed again for a client that accepts %s', async (accepted, encoding, decode) => {
  const plain = await app.inject('/openapi.json');
  const { headers, rawPayload } = await app.inject({ url: '/openapi.json', headers: { 'accept-encoding': accepted } });
  expect(headers['content-encoding']).toBe(encoding);
  // A response that is compressed on its way has no length.
  expect(headers).toMatchObject({
    'content-length': String(rawPayload.length),
    'content-type': 'application/json; charset=utf-8',
    vary: 'accept-encoding',
  });
  expect(decode(rawPayload).toString()).toBe(plain.body);
});
