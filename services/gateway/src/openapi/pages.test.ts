import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { ERROR_CODES } from '@cpg/contracts';
import Fastify from 'fastify';
import { serveDocsPages } from './pages.ts';

const app = Fastify();
serveDocsPages(app);
app.get('/openapi.json', async () => ({}));

afterAll(() => app.close());

test('the reference page has the name of the product and loads only files of this server', async () => {
  const { body, headers } = await app.inject('/docs');
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(body).toContain('<title>Crypto payment gateway API</title>');
  const configuration = /data-configuration="([^"]+)"/.exec(body)![1]!.replaceAll('&quot;', '"');
  const { url } = JSON.parse(configuration) as { url: string };
  const files = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file!);
  expect(files).toEqual(['/openapi.json', '/docs/reference.js']);
  for (const file of [url, ...files]) expect((await app.inject(file)).statusCode).toBe(200);
});

test('the policy of the reference page allows scripts of this server only, and connections to it only', async () => {
  const { body, headers } = await app.inject('/docs');
  const policy = String(headers['content-security-policy']).split('; ');
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'"]));
  const inline = [...body.matchAll(/<script(?![^>]*src=)[^>]*>/g)].map(([tag]) => tag);
  expect(inline.filter((tag) => !tag.includes('type="application/json"'))).toEqual([]);
});

test('the script of the reference page is served compressed, and can be cached', async () => {
  const { headers, rawPayload } = await app.inject('/docs/reference.js');
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'content-encoding': 'gzip',
    'cache-control': 'public, max-age=86400',
  });
  expect(gunzipSync(rawPayload).toString()).toContain('@scalar/api-reference');
});

test('the page of errors lists every code', async () => {
  const { body, headers } = await app.inject('/docs/errors');
  const rows = [...body.matchAll(/<tr id="(\w+)">.*?<td>(\d+)<\/td>/g)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  expect(Object.fromEntries(rows)).toEqual(ERROR_CODES);
  const style = /<style>([^]*)<\/style>/.exec(body)![1]!;
  const hash = createHash('sha256').update(style).digest('base64');
  expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
  expect(body).not.toMatch(/`/);
});

test('the errors are also there as Markdown', async () => {
  const { body, headers } = await app.inject('/docs/errors.md');
  expect(headers['content-type']).toBe('text/markdown; charset=utf-8');
  expect(body).toMatch(/^# Errors/);
});
