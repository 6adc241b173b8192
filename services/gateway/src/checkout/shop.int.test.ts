import { exampleOf, type Order, Payment } from '@cpg/contracts';
import sharp from 'sharp';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { paymentPages } from '../testing/jest-pages.ts';

const payment = exampleOf(Payment);

const NOW = new Date('2026-01-31T12:10:00.000Z');
const SHOP = { return_url: 'https://shop.example/thanks?table=B7', cancel_url: 'https://shop.example/cart' };

let gateway: TestGateway;
let merchant: TestMerchant;
let orderWithPage: ReturnType<typeof paymentPages>;

beforeAll(async () => {
  gateway = await startGateway({ environment: 'production', now: () => NOW });
  merchant = await gateway.merchant();
  orderWithPage = paymentPages(gateway, merchant);
});
afterAll(() => gateway.close());

const get = (url: string, accept = 'text/html') => gateway.app.inject({ method: 'GET', url, headers: { accept } });
const paid: Partial<Order> = { ...SHOP, status: 'paid', remaining_amount: '0.000000', payments: [payment] };

test('a payer who has not paid can go back to the cart', async () => {
  const { order, reference } = await orderWithPage(SHOP);
  const { body } = await get(`/pay/${reference}`);
  expect(body).toContain(`href="https://shop.example/cart?order_id=${order.id}&amp;status=awaiting_payment"`);
  expect(body).not.toContain('https://shop.example/thanks');
});

test('a payer who has paid gets a receipt and a way back, without being sent there', async () => {
  const { order, reference } = await orderWithPage(paid);
  const { body } = await get(`/pay/${reference}`);
  const url = `https://shop.example/thanks?table=B7&amp;order_id=${order.id}&amp;status=paid`;
  expect(body).toContain(`href="${url}"`);
  expect(body).toContain(`data-return-url="${url}"`);
  expect(body).toMatch(/<section class="receipt".*Receipt.*52\.4722 USDC.*Jan 31, 2026/);
  expect(body).not.toContain('http-equiv="refresh"');
  expect(body).not.toContain('https://shop.example/cart');
});

test('a page without JavaScript, or with something due back, leads nowhere by itself', async () => {
  const { reference } = await orderWithPage(paid);
  expect((await get(`/pay/${reference}?watched=1`)).body).not.toContain('http-equiv="refresh"');
  const twice = {
    ...payment,
    id: `${payment.id.slice(0, -1)}Z`,
    status: 'orphan',
    orphan_reason: 'already_paid',
    due_back_amount: payment.paid_amount,
  } as const;
  const { reference: other } = await orderWithPage({ ...paid, payments: [payment, twice] });
  const { body } = await get(`/pay/${other}`);
  expect(body).toContain('href="https://shop.example/thanks');
  expect(body).not.toMatch(/data-return-url|data-redirect/);
});

test('a request cannot choose where the page leads to', async () => {
  const { reference } = await orderWithPage({ ...paid, return_url: undefined, cancel_url: undefined });
  const { body } = await get(`/pay/${reference}?watched=1&return_url=https://evil.example&url=https://evil.example`);
  expect(body).not.toMatch(/evil|http-equiv="refresh"/);
});

test('the page has the look of its merchant, and may be embedded where the merchant says', async () => {
  const { reference } = await orderWithPage();
  const before = await get(`/pay/${reference}`);
  expect(before.headers).toMatchObject({
    'content-security-policy': expect.stringContaining("frame-ancestors 'self'"),
    'x-frame-options': expect.any(String),
  });
  const image = await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const look = { display_name: '<b>Café</b>', accent_color: '#0a7d5c', logo: image.toString('base64') };
  const frame_ancestors = ['https://shop.example', 'https://till.example:8443'];
  const { body: settings } = await merchant.send('PUT', '/v1/merchants/me/payment-page', { ...look, frame_ancestors });
  const { body, headers } = await get(`/pay/${reference}`);
  expect(body).toContain('&lt;b>Café&lt;/b>');
  expect(body).toContain(`src="${settings.logo_url}"`);
  expect(body).toContain('<link rel="stylesheet" href="/pay/accents/0a7d5c.css"');
  expect(headers.link).toContain(', </pay/accents/0a7d5c.css>; rel=preload; as=style');
  expect(headers['content-security-policy']).toMatch(
    /frame-ancestors 'self' https:\/\/shop\.example https:\/\/till\.example:8443$/,
  );
  expect(headers).not.toHaveProperty('x-frame-options');
  const { merchant: shown } = (await get(`/pay/${reference}`, 'application/json')).json();
  expect(shown).toEqual({ name: '<b>Café</b>', logo_url: settings.logo_url, accent_url: '/pay/accents/0a7d5c.css' });
});

test('production has no strip and no buttons behind it', async () => {
  const { reference } = await orderWithPage();
  expect((await get(`/pay/${reference}`)).body).not.toContain('Sandbox');
  gateway.payments.calls.length = 0;
  const { statusCode } = await gateway.app.inject({ method: 'POST', url: `/pay/${reference}/sandbox/pay-all` });
  expect(statusCode).toBe(404);
  expect(gateway.payments.calls).toEqual([]);
});
