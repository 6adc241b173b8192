import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openShop, type Shop } from '../harness/merchants.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { type ServiceName, serviceAdmin } from '../harness/service-admin.ts';
import { purchase, type Purchase } from '../harness/shoppers.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const NAMES: ServiceName[] = ['orders', 'payments'];
const SLOW = 120_000;

let stack: Stack;
let shop: Shop;
let database: pg.Client;

beforeAll(async () => {
  stack = await startStack();
  shop = await openShop(stack);
  database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
}, SLOW);

afterAll(async () => {
  await shop?.api.close();
  await database?.end();
  await stack?.stop();
}, SLOW);

const done = { code: 0, output: expect.any(String) };

/** Three shoppers that check each purchase right after its answer and delete every fifth. */
const startCheckingShoppers = () => {
  let stopped = false;
  const kept: Purchase[] = [];
  const deleted: Purchase[] = [];
  const shopper = async () => {
    for (let n = 1; !stopped; n += 1) {
      const bought = await purchase(shop.api);
      const { id, payments } = bought.order;
      expect(await shop.api.order(id)).toEqual(bought.order);
      expect((await shop.api.orders({ external_reference_id: bought.reference })).items).toEqual([bought.order]);
      expect(await shop.api.payment(payments[0]!.id)).toEqual(payments[0]);
      if (n % 5 !== 0) {
        kept.push(bought);
        continue;
      }
      await shop.api.deleteOrder(id);
      deleted.push(bought);
      expect((await shop.api.send('GET', `/v1/orders/${id}`)).status).toBe(404);
    }
  };
  const running = Promise.all([shopper(), shopper(), shopper()]);
  running.catch(() => {});
  return {
    kept,
    deleted,
    stop: async () => {
      stopped = true;
      await running;
    },
  };
};

test(
  'rebuilds under load, some of them killed, lose no order and restore no deleted one',
  async () => {
    const shoppers = startCheckingShoppers();
    await until('purchases', () => shoppers.kept.length >= 5);
    for (let round = 0; round < 3; round += 1) {
      const killed = NAMES.map((name) => serviceAdmin(stack, name, 'projections rebuild'));
      await sleep(200 * (round + 1));
      for (const { kill, outcome } of killed) {
        kill();
        await outcome();
      }
      const rebuilt = NAMES.map((name) => serviceAdmin(stack, name, 'projections rebuild').outcome());
      expect(await Promise.all(rebuilt)).toEqual([done, done]);
    }
    expect(await Promise.all(NAMES.map((name) => serviceAdmin(stack, name, 'projections verify').outcome()))).toEqual([
      done,
      done,
    ]);
    const before = shoppers.kept.length;
    await until('purchases after the rebuilds', () => shoppers.kept.length > before + 5 && shoppers.deleted.length > 0);
    await shoppers.stop();

    expect(shoppers.kept.length).toBe((await shop.api.orders({ limit: 1 })).total);
    for (const { order } of shoppers.kept) expect(await shop.api.order(order.id)).toEqual(order);
    for (const { order } of shoppers.deleted) {
      expect((await shop.api.send('GET', `/v1/orders/${order.id}`)).status).toBe(404);
      expect((await shop.api.send('GET', `/v1/payments/${order.payments[0]!.id}`)).status).toBe(404);
    }
    expect(await Promise.all(NAMES.map((name) => serviceAdmin(stack, name, 'projections verify').outcome()))).toEqual([
      done,
      done,
    ]);
  },
  SLOW,
);

test(
  'verify names each wrong column, and a rebuild corrects it',
  async () => {
    const open = await shop.api.createOrder(orderBody());
    const { order } = await purchase(shop.api);
    await database.query("update orders.orders set status = 'expired', due_at = null where id = $1", [open.id]);
    const paymentId = order.payments[0]!.id;
    await database.query("update payments.payments set currency = 'ETH' where id = $1", [paymentId]);

    const [orders, payments] = await Promise.all(
      NAMES.map((name) => serviceAdmin(stack, name, 'projections verify').outcome()),
    );
    expect(orders).toMatchObject({ code: 1 });
    expect(orders!.output).toContain(`${open.id}: status is "expired", the event store says "awaiting_payment"`);
    expect(orders!.output).toContain(`${open.id}: due_at is null, the event store says "`);
    expect(payments).toMatchObject({ code: 1 });
    expect(payments!.output).toContain(`${paymentId}: currency is "ETH", the event store says "${order.currency}"`);

    const rebuilt = NAMES.map((name) => serviceAdmin(stack, name, 'projections rebuild').outcome());
    expect(await Promise.all(rebuilt)).toEqual([done, done]);
    expect(await Promise.all(NAMES.map((name) => serviceAdmin(stack, name, 'projections verify').outcome()))).toEqual([
      done,
      done,
    ]);
    expect((await shop.api.orders({ status: 'awaiting_payment' })).items).toContainEqual(open);
    const found = await shop.api.payments({ currency: order.currency });
    expect(found.items).toContainEqual(order.payments[0]);
  },
  SLOW,
);

test('a rebuild without an event store fails and changes nothing', async () => {
  const nowhere = { ...stack, environment: { ...stack.environment, EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' } };
  const before = (await shop.api.orders({ limit: 1 })).total;
  expect(await serviceAdmin(nowhere, 'orders', 'projections rebuild').outcome()).toMatchObject({ code: 2 });
  expect((await shop.api.orders({ limit: 1 })).total).toBe(before);
});
