import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ERROR_CODES } from '@cpg/contracts';
import Fastify from 'fastify';
import { GUIDES, renderGuide } from './guide.ts';
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

test.each(Object.keys(GUIDES))('%s is a page with its own style alone, and its links lead somewhere', async (path) => {
  const { body, headers, statusCode } = await app.inject(path);
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const style = /<style>([^]*?)<\/style>/.exec(body)![1]!;
  const hash = createHash('sha256').update(style).digest('base64');
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-${hash}'`,
  );
  expect(body).not.toMatch(/<script|<img| style=|<!--/);
  for (const [, href] of body.matchAll(/ href="([^"]+)"/g)) {
    if (href!.startsWith('https://')) continue;
    const [target, anchor] = href!.split('#');
    const page = target === '' ? body : (await app.inject(target!)).body;
    expect({ href, isThere: anchor === undefined || page.includes(` id="${anchor}"`) }).toEqual({
      href,
      isThere: true,
    });
    if (target !== '') expect((await app.inject(target!)).statusCode).toBe(200);
  }
});

test('the guide has the headings, tables and examples of docs/merchants.md', async () => {
  const { body } = await app.inject('/docs/guide');
  expect(body).toContain('<title>For merchants: Crypto payment gateway API</title>');
  expect(body).toContain('<h2 id="api-keys">API keys</h2>');
  expect(body).toContain('<td><code>orders:self:create</code></td>');
  expect(body).toContain('<pre><code class="language-sh">');
});

test('the image of the gateway has the documents where it reads them', () => {
  const deploy = (file: string) => readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
  const documents: string[] = Object.values(GUIDES);
  for (const folder of new Set(documents.map((path) => posix.dirname(path)))) {
    const paths = documents.filter((path) => posix.dirname(path) === folder);
    expect(deploy('deploy/Dockerfile')).toContain(`COPY ${paths.join(' ')} /${folder}/\n`);
  }
  const ignored = deploy('.dockerignore').split('\n');
  for (const path of documents)
    expect([path, !ignored.includes(posix.dirname(path)) || ignored.includes(`!${path}`)]).toEqual([path, true]);
});

test('a guide leaves out HTML, and links that the gateway does not serve', () => {
  const { html } = renderGuide(
    '# A `b` & c\n\n<!-- note -->\n\n[x](../x.md) [y](javascript:alert(1)) [z](errors.md#a) <b onclick="x">t</b> ![i](i.png)',
    GUIDES['/docs/guide'],
  );
  expect(html).toBe('<h1 id="a-b--c">A <code>b</code> &amp; c</h1>\n<p>x y <a href="/docs/errors#a">z</a> t i</p>\n');
});

test('a guide starts with its contents', () => {
  const { title, html } = renderGuide('# A\n\nText.\n\n## The `b`\n\n### C\n\n## D\n', GUIDES['/docs/guide']);
  expect(title).toBe('A');
  expect(html.replaceAll('\n', '')).toBe(
    [
      '<h1 id="a">A</h1><p>Text.</p>',
      '<ul><li><a href="#the-b">The <code>b</code></a><ul><li><a href="#c">C</a></li></ul></li><li><a href="#d">D</a></li></ul>',
      '<h2 id="the-b">The <code>b</code></h2><h3 id="c">C</h3><h2 id="d">D</h2>',
    ].join(''),
  );
});

test('a link is relative to its document', () => {
  const { html } = renderGuide(
    '[w](webhooks.md#use) [m](../../docs/merchants.md) [e](examples/shop.ts)',
    GUIDES['/docs/guide/sdk'],
  );
  expect(html).toBe('<p><a href="/docs/guide/sdk/webhooks#use">w</a> <a href="/docs/guide">m</a> e</p>\n');
});

test('the guide leads to the recipe that processes each event once', async () => {
  const { body } = await app.inject('/docs/guide');
  expect(body).toContain('<a href="/docs/guide/sdk/webhooks#process-each-event-once">Process each event once</a>');
  expect(body).toContain('<a href="#refund-an-order">Refund an order</a>');
});

test('/ says where to go: as JSON, and to browsers as a page', async () => {
  const { headers, ...json } = await app.inject({ url: '/', headers: { accept: '*/*' } });
  expect(headers.vary).toBe('accept');
  expect(json.json()).toEqual({
    name: 'Crypto payment gateway API',
    dashboard: '/dashboard',
    guide: '/docs/guide',
    reference: '/docs',
    openapi: '/openapi.json',
    events: '/schemas/asyncapi.json',
    errors: '/docs/errors',
    health: '/health',
  });
  const page = await app.inject({ url: '/', headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  for (const path of Object.values(json.json<Record<string, string>>()).slice(1))
    expect(page.body).toContain(` href="${path}"`);
});
