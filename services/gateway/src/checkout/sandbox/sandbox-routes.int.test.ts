import { exampleOf, Payment } from '@cpg/contracts';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import { paymentPages } from '../../testing/jest-pages.ts';
import type { TestWallet } from './test-wallet.ts';

const payment = exampleOf(Payment);

const NOW = new Date('2026-01-31T12:10:00.000Z');

let gateway: TestGateway;
let orderWithPage: ReturnType<typeof paymentPages>;
let chain: string | null;
let walletPaid: unknown[];
const wallet: TestWallet = {
  chainId: async () => chain,
  pay: async ({ address, amount_units }) => void walletPaid.push({ address, amount_units }),
};

beforeAll(async () => {
  gateway = await startGateway({ now: () => NOW, wallet });
  orderWithPage = paymentPages(gateway, await gateway.merchant());
});
afterAll(() => gateway.close());
beforeEach(() => {
  chain = 'eip155:8453';
  walletPaid = [];
});

const get = async (url: string) =>
  (await gateway.app.inject({ method: 'GET', url, headers: { accept: 'text/html' } })).body;
const post = (url: string, headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' }) =>
  gateway.app.inject({
    method: 'POST',
    url,
    headers: { host: 'pay.example', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: '',
  });
/** What payments was told, without the pages that the gateway asked for. */
const told = () => gateway.payments.calls.filter(({ method }) => method === 'POST');

test('the page of a sandbox says so, and has the buttons that the order allows', async () => {
  const { reference } = await orderWithPage();
  const page = await get(`/pay/${reference}?lang=en&way=base`);
  expect(page).toContain('Sandbox. No real money.');
  const actions = [...page.matchAll(/formaction="([^"]+)"/g)].map(([, action]) => action);
  expect(actions).toEqual(
    ['wallet', 'pay-all', 'pay-part', 'pay-more', 'pay-late', 'advance', 'expire'].map(
      (action) => `/pay/${reference}/sandbox/${action}?lang=en&amp;way=base`,
    ),
  );
});

test.each([
  ['en', 'Pay too late'],
  ['es', 'Pagar fuera de plazo'],
  ['pt', 'Pagar com atraso'],
])('an expired order offers late money alone, and pays it: %s', async (language, label) => {
  const { reference, order } = await orderWithPage({ status: 'expired' });
  const page = await get(`/pay/${reference}?lang=${language}`);
  expect([...page.matchAll(/<button formaction="[^"]+"[^>]*>([^<]+)</g)].map(([, text]) => text)).toEqual([label]);
  gateway.payments.calls.length = 0;
  expect((await post(`/pay/${reference}/sandbox/pay-late`)).statusCode).toBe(303);
  expect(told()).toMatchObject([
    { path: '/payments', body: { order_id: order.id, amount: '52.472200', confirmed: true } },
  ]);
});

test('the page of a canceled order has the mark of a sandbox, and no empty strip', async () => {
  const { reference } = await orderWithPage({ status: 'canceled' });
  const page = await get(`/pay/${reference}?lang=en`);
  expect(page).toContain('<span class="sandbox-mark">Sandbox</span>');
  expect(page).not.toContain('<form');
  expect(page).not.toContain('Sandbox. No real money.');
});

test('a button pays, and leads back to the page as it was', async () => {
  const { order, reference } = await orderWithPage();
  gateway.payments.calls.length = 0;
  const { statusCode, headers } = await post(`/pay/${reference}/sandbox/pay-part?lang=en&way=base`);
  expect({ statusCode, location: headers.location }).toEqual({
    statusCode: 303,
    location: `/pay/${reference}?lang=en&way=base&watched=1`,
  });
  expect(told()).toMatchObject([
    { path: '/payments', body: { order_id: order.id, amount: '26.236100', confirmed: false } },
  ]);
});

test('the test wallet pays what the way to pay asks for, on its own chain alone', async () => {
  const { reference } = await orderWithPage();
  expect((await post(`/pay/${reference}/sandbox/wallet?way=base`)).statusCode).toBe(303);
  expect(walletPaid).toEqual([{ address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94', amount_units: '52472200' }]);
  chain = 'eip155:1';
  expect((await post(`/pay/${reference}/sandbox/wallet?way=base`)).statusCode).toBe(303);
  expect(walletPaid).toHaveLength(1);
  expect(await get(`/pay/${reference}?way=base`)).not.toContain('test wallet');
  chain = null;
  expect(await get(`/pay/${reference}?way=base`)).not.toContain('test wallet');
});

test('the test wallet does not pay an order that takes no money', async () => {
  const { reference } = await orderWithPage({ status: 'paid', remaining_amount: '0.000000', payments: [payment] });
  expect((await post(`/pay/${reference}/sandbox/wallet?way=base`)).statusCode).toBe(303);
  expect(walletPaid).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ['of another site', { 'sec-fetch-site': 'cross-site', origin: 'http://pay.example' }],
  ['of another subdomain', { 'sec-fetch-site': 'same-site' }],
  ['of another origin', { origin: 'http://evil.example' }],
  ['of a hidden origin', { origin: 'null' }],
])('refuses a form %s', async (_, headers) => {
  const { reference } = await orderWithPage();
  gateway.payments.calls.length = 0;
  expect((await post(`/pay/${reference}/sandbox/pay-all`, headers)).statusCode).toBe(403);
  expect(told()).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ['of the page in an older browser', { origin: 'http://pay.example' }],
  ['of a client that is no browser', {}],
])('accepts a form %s', async (_, headers) => {
  const { reference } = await orderWithPage();
  expect((await post(`/pay/${reference}/sandbox/pay-all`, headers)).statusCode).toBe(303);
});

test('an unknown reference and an unknown button are 404', async () => {
  const { reference } = await orderWithPage();
  expect((await post('/pay/UNKNOWN/sandbox/pay-all')).statusCode).toBe(404);
  expect((await post(`/pay/${reference}/sandbox/steal`)).statusCode).toBe(404);
});
