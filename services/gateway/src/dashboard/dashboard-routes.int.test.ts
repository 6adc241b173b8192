import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startGateway, type TestGateway } from '../testing/jest-gateway.ts';
import { type Dashboard, readDashboard } from './dashboard-files.ts';

const SCRIPT = `console.log('${'dashboard '.repeat(200)}');`;
const PAGE = '<!doctype html><meta property="csp-nonce" nonce="STYLE-NONCE"><link nonce="STYLE-NONCE">';

let folder: string;
let gateway: TestGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cpg-dashboard-'));
  mkdirSync(join(folder, 'dist', 'assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), 'outside of the folder');
  const write = (name: string, text: string) => writeFileSync(join(folder, 'dist', name), text);
  write('index.html', PAGE);
  write('licenses.md', '# Licenses');
  write('assets/index-AbCd1234.js', SCRIPT);
  write('assets/index-AbCd1234.css', 'body{}');
  gateway = await startGateway({ dashboard: readDashboard(join(folder, 'dist')) });
});

afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

const get = (url: string, headers = {}) => gateway.app.inject({ url, headers });

const nonceOf = (policy: unknown): string => /'nonce-([^']+)'/.exec(String(policy))![1]!;

test.each(['/dashboard', '/dashboard/', '/dashboard/orders', '/dashboard/orders/ord_01?at=2026-01-31T12:00:00.000Z'])(
  '%s is the page',
  async (url) => {
    const { statusCode, headers, body } = await get(url);
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-cache');
    const nonce = nonceOf(headers['content-security-policy']);
    expect(body).toBe(PAGE.replaceAll('STYLE-NONCE', nonce));
  },
);

test('the page runs scripts of files alone, and nobody may frame it', async () => {
  const { headers } = await get('/dashboard');
  const policy = String(headers['content-security-policy']);
  expect(policy.replace(nonceOf(policy), 'N').split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'nonce-N'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ]);
  expect(headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  });
  expect(headers['set-cookie']).toBeUndefined();
});

test('each answer has a nonce of its own', async () => {
  const [one, other] = [await get('/dashboard'), await get('/dashboard')];
  expect(nonceOf(one.headers['content-security-policy'])).not.toBe(nonceOf(other.headers['content-security-policy']));
});

test('browsers keep a file whose name has its hash', async () => {
  const { statusCode, headers, body } = await get('/dashboard/assets/index-AbCd1234.js');
  expect([statusCode, body]).toEqual([200, SCRIPT]);
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
});

test('files are compressed', async () => {
  const { headers, rawPayload } = await get('/dashboard/assets/index-AbCd1234.js', { 'accept-encoding': 'gzip' });
  expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'accept-encoding']);
  expect(gunzipSync(rawPayload).toString()).toBe(SCRIPT);
});

test('browsers ask for a file without a hash each time', async () =>
  expect((await get('/dashboard/licenses.md')).headers['cache-control']).toBe('no-cache'));

test('HEAD has the headers alone', async () => {
  for (const url of ['/dashboard', '/dashboard/orders', '/dashboard/assets/index-AbCd1234.js']) {
    const { statusCode, body, headers } = await gateway.app.inject({ method: 'HEAD', url });
    expect([statusCode, body]).toEqual([200, '']);
    expect(Number(headers['content-length'])).toBeGreaterThan(0);
  }
});

test.each([
  '/dashboard/assets/index-Old00000.js',
  '/dashboard/favicon.ico',
  '/dashboard/index.html',
  '/dashboard/../secret.txt',
  '/dashboard/..%2fsecret.txt',
  '/dashboard/%2e%2e/secret.txt',
  '/dashboard/assets/..%2f..%2f..%2fsecret.txt',
  '/dashboard/assets/..\\..\\secret.txt',
  '/dashboard/__proto__.js',
])('%s is no file', async (url) => {
  const { statusCode, body } = await get(url);
  expect(statusCode).toBe(404);
  expect(body).not.toContain('outside');
});

test.each(['/dashboard/..%2f', '/dashboard/%2e%2e%2f%2e%2e', '/dashboard/constructor'])(
  '%s is the page and no file',
  async (url) => expect((await get(url)).body).toContain('<!doctype html>'),
);

test('other methods are not allowed', async () => {
  const { statusCode, headers } = await gateway.app.inject({ method: 'POST', url: '/dashboard/orders' });
  expect([statusCode, headers.allow]).toEqual([405, 'GET, HEAD']);
});

test('requests count by address', async () => {
  const limited = await startGateway({ dashboard: testDashboard(), perSecond: 1, burst: 2 });
  try {
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await limited.app.inject({ url: '/dashboard' })).statusCode);
    expect(statuses).toEqual([200, 200, 429]);
  } finally {
    await limited.close();
  }
});

test('a gateway without a dashboard has no such page', async () => {
  const without = await startGateway();
  try {
    expect((await without.app.inject({ url: '/dashboard' })).statusCode).toBe(404);
  } finally {
    await without.close();
  }
});

test('a folder without a page is an error that says what to do', () =>
  expect(() => readDashboard(join(folder, 'dist', 'assets'))).toThrow('run `pnpm build`'));

const testDashboard = (): Dashboard => ({ page: PAGE, files: new Map() });
