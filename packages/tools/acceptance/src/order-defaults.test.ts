import type { HistoryData } from '@cpg/contracts';
import { type Client, createClient } from '@cpg/sdk';
import { admin, openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let client: Client;
beforeEach(async () => {
  shop = await openShop(stack);
  client = createClient({ baseUrl: stack.baseUrl, apiKey: shop.key });
});
afterEach(() => shop.api.close());

const { enable_rails: _, payment_currency: __, capabilities, ...SHORT } = orderBody();
const DEFAULTS = {
  enable_rails: ['crypto_deposit' as const],
  payment_currency: 'BTC' as const,
  capabilities: capabilities!,
};

test('a create takes the defaults, and its event says the values that counted', async () => {
  await client.updateMerchant({ order_defaults: DEFAULTS });
  const order = await client.createOrder(SHORT);
  expect(order).toMatchObject({ currency: 'BTC', capabilities, status: 'awaiting_payment' });
  expect(order.deposit_instructions.map(({ rail }) => rail)).toEqual(['crypto_deposit']);
  const { items } = await shop.api.history(order.id);
  expect(items[0]!.data as HistoryData<'OrderCreated'>).toMatchObject({
    enable_rails: ['crypto_deposit'],
    currency: 'BTC',
    capabilities,
  });
  const explicit = await client.createOrder({ ...SHORT, enable_rails: ['gateway_pay'], payment_currency: 'USDC' });
  expect(explicit).toMatchObject({ currency: 'USDC', capabilities });
  expect(explicit.deposit_instructions.map(({ rail }) => rail)).toEqual(['gateway_pay']);
});

test('a repeat with its key gets the same order, although the defaults changed or are gone', async () => {
  const options = { idempotencyKey: `defaults-${process.pid}` };
  await client.updateMerchant({ order_defaults: DEFAULTS });
  const first = await client.createOrder(SHORT, options);
  await client.updateMerchant({ order_defaults: { payment_currency: 'USDC' } });
  expect(await client.createOrder(SHORT, options)).toEqual(first);
  await client.updateMerchant({ order_defaults: {} });
  expect(await client.createOrder(SHORT, options)).toEqual(first);
  await expect(client.createOrder(SHORT)).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
});

test('without a default the missing fields are named, with both ways out', async () => {
  const { status, body } = await shop.api.send('POST', '/v1/orders', { body: SHORT });
  expect(status).toBe(400);
  const details = body.details as { path: string; message: string }[];
  expect(details.map(({ path }) => path)).toEqual(['enable_rails', 'payment_currency', 'capabilities']);
  for (const { message } of details) expect(message).toMatch(/send it, or set it in `order_defaults` with PATCH/);
});

test('an operator sets defaults, which the merchant sees and creates take', async () => {
  await admin(stack, ['merchants', 'update', shop.id, '--file', '-'], { order_defaults: DEFAULTS });
  expect(await client.getMerchant()).toMatchObject({ order_defaults: DEFAULTS });
  expect(await client.createOrder(SHORT)).toMatchObject({ currency: 'BTC' });
});
