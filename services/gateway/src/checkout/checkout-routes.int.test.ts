import { brotliDecompressSync } from 'node:zlib';
import { Checkout, type Order, type PaymentPageAddresses } from '@cpg/contracts';
import { type LoadLimits, newId } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { orderOf, projectOrder } from '../testing/jest-resources.ts';
import { errorResponse } from '../testing/jest-stub-service.ts';

const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
const NOW = new Date('2026-01-31T12:10:00.000Z');
const CSP =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

let gateway: TestGateway;
let askForTime = () => NOW;
let merchant: TestMerchant;
const pages = new Map<string, PaymentPageAddresses>();

beforeAll(async () => {
  gateway = await startGateway({ environment: 'sandbox', now: () => askForTime() });
  merchant = await gateway.merchant();
  gateway.payments.respond = ({ path }) => {
    const page = pages.get(decodeURIComponent(path.split('/').at(-1)!));
    return page ? { status: 200, body: page } : errorResponse(404, 'not_found');
  };
});
afterAll(() => gateway.close());

/** An order with a page, and its reference. */
const orderWithPage = async (more: Partial<Order> = {}) => {
  const order = orderOf(newId('order'), merchant.id, more);
  const reference = order.id.slice(4);
  const deposit = {
    rail: 'gateway_pay' as const,
    network: 'base',
    chain_id: 'eip155:8453',
    asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    address: ADDRESS,
    decimals: 6,
    required_confirmations: 12,
  };
  pages.set(reference, { order_id: order.id, merchant_id: merchant.id, deposits: [deposit] });
  await projectOrder(gateway.pool, order);
  return { order, reference };
};

const get = (url: string, headers: Record<string, string> = { accept: 'text/html' }) =>
  gateway.app.inject({ method: 'GET', url, headers });

test('renders the order of a reference without a key', async () => {
  const { reference } = await orderWithPage();
  const response = await get(`/pay/${reference}?way=base`);
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': CSP.replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    link: expect.stringMatching(/^<\/pay\/assets\/page-[0-9a-f]+\.css>; rel=preload; as=style$/),
  });
  expect(response.headers).not.toHaveProperty('set-cookie');
  expect(response.body).toMatch(/^<!doctype html><html lang="en"/);
  expect(response.body).toContain('Dinner for two');
});

test.each([
  ['a tab', { 'sec-fetch-dest': 'document' }, undefined],
  ['a frame', { 'sec-fetch-dest': 'iframe' }, '?1'],
  ['a browser that does not tell', {}, '?1'],
])('isolates itself in %s', async (_, fetched, originAgentCluster) => {
  const { reference } = await orderWithPage();
  const { headers } = await get(`/pay/${reference}`, { accept: 'text/html', ...fetched });
  expect(headers['cross-origin-opener-policy']).toBe('same-origin');
  expect(headers['origin-agent-cluster']).toBe(originAgentCluster);
});

test('compresses a page before it sends the first byte', async () => {
  const { reference } = await orderWithPage();
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br, zstd' };
  const { headers: sent, rawPayload } = await get(`/pay/${reference}?way=base`, headers);
  expect(sent).toMatchObject({ 'content-encoding': 'br', 'content-length': String(rawPayload.length) });
  expect(brotliDecompressSync(rawPayload).toString()).toContain('class="qr"');
});

test('answers the payer’s view as JSON, and nothing else', async () => {
  const { reference, order } = await orderWithPage({ return_url: undefined, cancel_url: undefined });
  const response = await get(`/pay/${reference}`, { accept: 'application/json' });
  const checkout = Checkout.parse(response.json());
  expect(checkout.ways[0]).toMatchObject({ address: ADDRESS, network_name: 'Base', minutes: 1, amount: '52.472200' });
  for (const secret of [order.id, order.external_reference_id, merchant.id, '"B7"', 'lafonda', 'kraken'])
    expect(response.body).not.toContain(secret);
});

test('shows the page while orders and payments are unavailable, once it was shown', async () => {
  const { reference } = await orderWithPage();
  expect((await get(`/pay/${reference}`)).statusCode).toBe(200);
  const { respond } = gateway.payments;
  gateway.payments.respond = () => errorResponse(503, 'dependency_unavailable');
  expect((await get(`/pay/${reference}`)).statusCode).toBe(200);
  const other = await orderWithPage();
  const unavailable = await get(`/pay/${other.reference}`);
  expect(unavailable.statusCode).toBe(503);
  expect(unavailable.body).toContain('tries again in 5 seconds');
  gateway.payments.respond = respond;
});

test('answers the same page, after the same calls, for unknown references and deleted orders', async () => {
  const { order, reference } = await orderWithPage();
  await get(`/pay/${reference}`);
  await gateway.pool.query('update orders.orders set deleted = true, resource = null where id = $1', [order.id]);
  pages.delete(reference);
  const answers = [];
  for (const each of [reference, reference, 'UNKNOWN']) {
    gateway.payments.calls.splice(0);
    const { statusCode, body, headers } = await get(`/pay/${each}`);
    const { 'x-request-id': _, date: __, ...stable } = headers;
    answers.push({ statusCode, body, stable, calls: gateway.payments.calls.length });
  }
  expect(answers[0]).toMatchObject({ statusCode: 404, calls: 1, body: expect.stringContaining('No payment found') });
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
});

test('serves its files for a year, compressed as the browser accepts', async () => {
  const { reference } = await orderWithPage();
  const [path] = /\/pay\/assets\/[^"]+\.css/.exec((await get(`/pay/${reference}`)).body)!;
  const style = await get(path, { 'accept-encoding': 'gzip, br' });
  expect(style.statusCode).toBe(200);
  expect(style.headers).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'content-encoding': 'br',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  });
  expect((await get(path.replace(/-[0-9a-f]+/, '-0'))).statusCode).toBe(404);
});

test('makes one page in each turn of the event loop, so that others are answered between two', async () => {
  const { reference } = await orderWithPage();
  await get(`/pay/${reference}`);
  let turn = 0;
  const turns: number[] = [];
  const count = () => {
    turn += 1;
    if (turns.length < 8) setImmediate(count);
  };
  setImmediate(count);
  // Each page asks once.
  askForTime = () => {
    turns.push(turn);
    return NOW;
  };
  try {
    await Promise.all(Array.from({ length: 8 }, () => get(`/pay/${reference}`)));
  } finally {
    askForTime = () => NOW;
  }
  expect(new Set(turns).size).toBe(8);
});

test('limits requests by address, with a page that tells the payer to wait', async () => {
  const limited = await startGateway({ perSecond: 0.01, burst: 1 });
  const open = () =>
    limited.app.inject({ url: '/pay/UNKNOWN', headers: { accept: 'text/html', 'accept-language': 'es' } });
  expect((await open()).statusCode).toBe(404);
  const refused = await open();
  expect(refused.statusCode).toBe(429);
  expect(refused.headers).toMatchObject({ ...PAGE, 'retry-after': '100' });
  expect(refused.body).toContain('Demasiadas solicitudes');
  expect(refused.body).toContain('en 100 segundos');
  await limited.close();
});

/** What browsers are told about each page, also about one that was refused before its route ran. */
const PAGE = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CSP,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
};
const FULL: LoadLimits = { page: { admit: () => null, limit: () => 0, inProgress: () => 0 } };

test.each([
  ['overload', { loadLimits: FULL }],
  ['a timeout', { answerWithinMs: 20 }],
])('answers %s to a browser with a page that says when to try again', async (_, options) => {
  const busy = await startGateway(options);
  busy.payments.respond = () => new Promise(() => {});
  const open = (accept: string) =>
    busy.app.inject({ url: '/pay/UNKNOWN?way=base', headers: { accept, 'accept-language': 'pt' } });
  const page = await open('text/html');
  expect([page.statusCode, page.headers]).toEqual([503, expect.objectContaining({ ...PAGE, 'retry-after': '1' })]);
  expect(page.body).toContain('tenta de novo em 5 segundos');
  expect(page.body).toContain('href="/pay/UNKNOWN?way=base" data-retry-seconds="5"');
  const json = await open('application/json');
  expect([json.statusCode, json.headers['content-type']]).toEqual([503, 'application/json; charset=utf-8']);
  await busy.close();
});

test.each([
  '%00',
  '%FF',
  'a%00b',
  'a/',
  'a//',
  'a.',
  'a)',
  'a%20',
  'a%0A',
  'a/b/c',
  '',
  'x'.repeat(600),
  '%25',
  '%ED%A0%80',
])('the mangled link /pay/%s is a page that explains, and costs no lookup', async (mangled) => {
  const before = gateway.payments.calls.length;
  for (const url of [`/pay/${mangled}`, `/PAY/${mangled}`]) {
    const page = await get(url);
    expect([page.statusCode, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.body).toContain('No payment found');
    expect((await get(url, { accept: 'application/json' })).json()).toMatchObject({ code: 'not_found' });
  }
  expect((await get(`/pay/${mangled}/events`)).statusCode).toBe(404);
  const press = { method: 'POST', url: `/pay/${mangled}/sandbox/pay-all` } as const;
  expect((await gateway.app.inject(press)).statusCode).toBe(404);
  expect(gateway.payments.calls).toHaveLength(before);
});

test('a link in capitals shows the payment, and /pay alone explains', async () => {
  const { reference } = await orderWithPage();
  expect((await get(`/PAY/${reference}?way=base`)).statusCode).toBe(200);
  for (const url of ['/pay', '/PAY', '/pay?lang=es'])
    expect((await get(url)).headers['content-type']).toMatch('text/html');
  expect((await get('/payments')).headers['content-type']).toMatch('application/json');
});
