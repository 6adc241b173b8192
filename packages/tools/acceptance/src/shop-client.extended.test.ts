import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Client, createClient, type Order } from '@cpg/sdk';
import { createShop, type Meaning, type Outcome, type Shop, type Store } from '@cpg/shop-client';
import { openShop, type Shop as Merchant } from './harness/merchants.ts';
import { freePort } from '@cpg/ports';
import { type Stack, startStack } from './harness/stack.ts';
import { until } from './harness/until.ts';

const CART = {
  lines: [
    { name: 'Tea pot', minor: 1000n, quantity: 3 },
    { name: 'Summer', minor: -100n },
    { name: 'Post', minor: 450n, kind: 'shipping' as const },
  ],
  total: { minor: 1350n, currency: 'MXN' as const },
  coin: 'USDC' as const,
  rails: ['gateway_pay', 'crypto_deposit'] as const,
};
let stack: Stack;
let merchant: Merchant;
let client: Client;
let server: Server;
let address: string;
/** By path: the shop with this name has its route there. */
const shops = new Map<string, Shop>();
const seen = new Map<string, Meaning[]>();

/** A table of a shop's database. */
const storeOf = (rows = new Map<string, string>()): Store => ({
  read: async (name) => rows.get(name),
  replace: async (name, expected, next) => rows.get(name) === expected && Boolean(rows.set(name, next)),
});
const shopOf = (shop: string, { store = storeOf(), baseUrl = stack.baseUrl } = {}): Shop =>
  createShop({
    baseUrl,
    apiKey: merchant.key,
    shop,
    webhookUrl: `${address}/${shop}`,
    store,
    log: { info: () => {}, warn: () => {} },
    onOrder: async ({ id }, meaning) => void seen.set(id, [...(seen.get(id) ?? []), meaning]),
  });
const valueOf = <T>(outcome: Outcome<T>): T => {
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome.value;
};
const pay = ({ id }: Order, amount: string, more: object = {}) =>
  client.registerPayment({ order_id: id, payment_rail: 'crypto_deposit', amount, currency: 'USDC', ...more });
const lastOf = ({ id }: Order) => seen.get(id)?.at(-1);

beforeAll(async () => {
  stack = await startStack();
  merchant = await openShop(stack);
  client = createClient({ baseUrl: stack.baseUrl, apiKey: merchant.key });
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const received = await shops.get(request.url!.slice(1))!.receive(await buffer(request), request.headers);
    response.writeHead(received.status).end();
  };
  server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const name of ['b2c', 'b2b']) {
    const store = storeOf();
    shops.set(name, shopOf(name, { store }));
    // Two processes of the shop start at once.
    const both = await Promise.all([shops.get(name)!.register(), shopOf(name, { store }).register()]);
    expect(both[0]).toEqual(both[1]);
  }
  expect((await client.listWebhooks()).items.map(({ label, is_enabled }) => [label, is_enabled]).sort()).toEqual([
    ['Shop b2b', true],
    ['Shop b2c', true],
  ]);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await merchant.api.close();
  await stack.stop();
});

test('a shop hears that its order is paid, with the total to the cent, and no other shop does', async () => {
  const [order, ...same] = (
    await Promise.all([1, 2, 3].map(() => shops.get('b2c')!.orders.open({ ...CART, reference: 'cart-1' })))
  ).map(valueOf);
  expect(same.map(({ id }) => id)).toEqual([order!.id, order!.id]);
  expect(order!.item_totals).toEqual({ MXN: '13.50' });
  await pay(order!, order!.total_amount);
  await until('the shop has the payment', () => lastOf(order!)?.state === 'captured');
  await pay(order!, '1');
  const second = await until('the shop has the second payment', () => lastOf(order!)?.decisions[0]);
  expect(second).toMatchObject({ kind: 'second', text: expect.stringContaining('Second payment: 1 USDC') });
  const refund = {
    orderId: order!.id,
    amount: { minor: 350n, currency: 'MXN' as const },
    key: 'refund-1',
    reason: 'a lid',
  };
  const refunded = valueOf(await shops.get('b2c')!.orders.refund(refund));
  // Also after a crash of the shop.
  expect(valueOf(await shops.get('b2c')!.orders.refund(refund))).toEqual(refunded);
  expect(valueOf(await shops.get('b2c')!.orders.read(order!.id)).refunds).toMatchObject([
    { id: refunded.id, requested_amount: '3.50', requested_currency: 'MXN', reason: 'a lid' },
  ]);
  const b2b = await shops.get('b2b')!.lookUp();
  expect(b2b).toEqual({ ok: true, value: { handled: 0, failures: [] } });
});

test('a cart changes until money is seen, and is canceled only without money', async () => {
  const { orders } = shops.get('b2c')!;
  const first = valueOf(await orders.open({ ...CART, reference: 'cart-2' }));
  const bigger = { ...CART, reference: 'cart-2', total: { minor: 2000n, currency: 'MXN' as const } };
  // Also by a process that does not know the order.
  for (const known of [first.id, undefined]) {
    const changed = valueOf(await orders.open(bigger, known));
    expect(changed).toMatchObject({ id: first.id, item_totals: { MXN: '20.00' } });
  }
  const inEth = valueOf(await orders.open({ ...bigger, coin: 'ETH' }, first.id));
  expect(inEth).toMatchObject({ currency: 'ETH', external_reference_id: 'cart-2' });
  expect(valueOf(await orders.read(first.id)).status).toBe('canceled');
  expect(valueOf(await orders.cancel(inEth.id)).status).toBe('canceled');

  const seenMoney = valueOf(await orders.open({ ...CART, reference: 'cart-3' }));
  await pay(seenMoney, '0.1', { outcome: 'pending' });
  const refused = { ok: false, fault: { kind: 'refused', code: 'payment_in_progress' } };
  expect(await orders.open({ ...bigger, reference: 'cart-3' }, seenMoney.id)).toMatchObject(refused);
  expect(await orders.cancel(seenMoney.id)).toMatchObject(refused);
});

test('a shop that was down finds what it missed', async () => {
  const store = storeOf();
  const down = shopOf('night', { store });
  const order = valueOf(await down.orders.open({ ...CART, reference: 'cart-4' }));
  await pay(order, order.total_amount);
  await until('the list has the payment', async () => {
    valueOf(await shopOf('night', { store }).lookUp());
    return lastOf(order)?.state === 'captured';
  });
});

test('an unreachable gateway is an outcome', async () => {
  const away = shopOf('away', { baseUrl: `http://127.0.0.1:${await freePort()}` });
  const unreachable = { kind: 'unreachable' };
  expect(await away.orders.open({ ...CART, reference: 'cart-5' })).toMatchObject({ ok: false, fault: unreachable });
  expect(await away.coins(CART.total)).toMatchObject(unreachable);
  expect(await away.register()).toMatchObject({ ok: false, fault: unreachable });
  expect(await away.lookUp()).toMatchObject({ ok: false, fault: unreachable });
});
