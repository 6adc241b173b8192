import pg from 'pg';
import { until } from '../../harness/until.ts';
import { type KillableGateway, openGatewayAndShop, openKillableGateway } from '../setup/gateway.ts';
import { type MedusaShop, TEST_PAYMENT } from './medusa-shop.ts';
import {
  checkOut,
  ordersOf,
  PROVIDER,
  soldOnce,
  staffReads,
  startMedusaWithPlugin,
  startPayment,
} from './plugin-shop.ts';

let gateway: KillableGateway;
let shop: MedusaShop;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ gateway, shop, close } = await openGatewayAndShop(openKillableGateway, startMedusaWithPlugin));
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await close?.();
});

let database: pg.Client;
const countIn = async (table: string): Promise<number> => {
  const { rows } = await database.query<{ count: string }>(`select count(*) from "${table}"`);
  return Number(rows[0]!.count);
};

const noneUnpaid = async () => {
  const orders = await shop.staff.orders();
  const unpaid = orders.filter(({ payments }) => payments.every(({ captures }) => captures.length === 0));
  expect(unpaid).toEqual([]);
};

// What Medusa writes while it completes a cart, in this order.
test.each(['order', 'order_cart', 'payment', 'capture'])(
  'a shop that is killed right after it wrote the first %s sells each paid cart once',
  async (table) => {
    const paid = await Promise.all([checkOut(shop), checkOut(shop)]);
    const countNow = await countIn(table);
    await Promise.all(paid.map(({ orderId }) => gateway.pay(orderId)));
    await until(`a row in ${table}`, async () => (await countIn(table)) > countNow);
    await shop.kill();
    await shop.start();
    for (const { orderId } of paid) expect(await soldOnce(shop, orderId)).toMatchObject({ payment_status: 'captured' });
    await noneUnpaid();
  },
);

test('a completion that fails after the payment was authorized is done again', async () => {
  const cart = await shop.shopper.createCart('usd', 'fails-once');
  const { orderId } = await startPayment(shop, cart.id);
  await gateway.pay(orderId);
  await soldOnce(shop, orderId);
  expect(shop.log.join('\n')).toContain('the hook of the merchant failed');
  await noneUnpaid();
});

test('a shop and a gateway that are killed at once sell a paid cart once', async () => {
  const { orderId } = await checkOut(shop);
  await gateway.pay(orderId);
  gateway.kill();
  await shop.kill();
  await shop.start();
  await soldOnce(shop, orderId);
  await noneUnpaid();
});

test('without the gateway a cart can be changed and paid in another way', async () => {
  const { createCart, addLine, complete } = shop.shopper;
  const started = await checkOut(shop);
  const fresh = await createCart();
  await gateway.block();
  await expect(startPayment(shop, fresh.id)).rejects.toThrow('Crypto payments cannot be reached at the moment');
  for (const id of [fresh.id, started.cartId]) {
    expect(await addLine(id)).toMatchObject({ total: 26 });
    expect(await complete(id)).not.toMatchObject({ type: 'order' });
    await shop.shopper.startPayment(id, TEST_PAYMENT);
    expect(await complete(id)).toMatchObject({ type: 'order' });
  }
  await gateway.unblock();
  // The page of the first payment could not be closed.
  await gateway.pay(started.orderId);
  await staffReads(shop, started.orderId, /15\.50 USD was paid for a cart that was already paid in another way/);
});

test('a payment that comes while the shop cannot reach the gateway is an order afterwards', async () => {
  const { orderId, cartId } = await checkOut(shop);
  await gateway.block();
  await gateway.pay(orderId);
  expect(await shop.shopper.complete(cartId)).not.toMatchObject({ type: 'order' });
  expect(await ordersOf(shop, orderId)).toEqual([]);
  await gateway.unblock();
  const { payments } = await soldOnce(shop, orderId);
  await gateway.block();
  const refused = await shop.staff.refund(payments[0]!.id, 5);
  expect(refused).toMatchObject({ body: { message: expect.stringContaining('cannot be reached') } });
  await gateway.unblock();
  expect(await shop.staff.refund(payments[0]!.id, 5)).toMatchObject({ status: 200 });
});

test('the page of a cart that changed without the gateway stays payable, and its money is told', async () => {
  const old = await checkOut(shop);
  await gateway.block();
  await shop.shopper.addLine(old.cartId);
  await gateway.unblock();
  await gateway.pay(old.orderId);
  await staffReads(shop, old.orderId, /15\.50 USD was paid for a cart that changed meanwhile: it costs 26\.00 USD now/);
  expect(await ordersOf(shop, old.orderId)).toEqual([]);
  // The whole new price is asked: the old money is for the staff to give back.
  const { orderId } = await startPayment(shop, old.cartId);
  expect(await gateway.client.getOrder(orderId)).toMatchObject({ item_totals: { USD: '26.00' } });
  await gateway.pay(orderId);
  expect(await soldOnce(shop, orderId)).toMatchObject({ total: 26, payments: [{ provider_id: PROVIDER }] });
});
