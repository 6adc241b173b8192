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

const done = { code: 0, said: expect.any(String) };

/** A merchant who looks for each of their purchases as soon as it was answered, and deletes every fifth of them. */
const attentiveMerchant = () => {
  let open = true;
  const kept: Purchase[] = [];
  const deleted: Purchase[] = [];
  const shopper = async () => {
    for (let n = 1; open; n += 1) {
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
    leave: async () => {
      open = false;
      await running;
    },
  };
};

test(
  'are rebuilt while merchants buy, read and delete, though a rebuild is killed at any moment; nothing is lost, nothing comes back',
  async () => {
    const merchant = attentiveMerchant();
    await until('purchases', () => merchant.kept.length >= 5);
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
    const before = merchant.kept.length;
    await until('purchases after it', () => merchant.kept.length > before + 5 && merchant.deleted.length > 0);
    await merchant.leave();

    expect(merchant.kept.length).toBe((await shop.api.orders({ limit: 1 })).total);
    for (const { order } of merchant.kept) expect(await shop.api.order(order.id)).toEqual(order);
    for (const { order } of merchant.deleted) {
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
  'verifying names what differs, by row and column, and a rebuild makes it right, deadlines too',
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
    expect(orders!.said).toContain(`${open.id}: status is "expired", the event store says "awaiting_payment"`);
    expect(orders!.said).toContain(`${open.id}: due_at is null, the event store says "`);
    expect(payments).toMatchObject({ code: 1 });
    expect(payments!.said).toContain(`${paymentId}: currency is "ETH", the event store says "${order.currency}"`);

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

test('a rebuild that cannot be done says why, and changes nothing', async () => {
  const nowhere = { ...stack, environment: { ...stack.environment, EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' } };
  const before = (await shop.api.orders({ limit: 1 })).total;
  expect(await serviceAdmin(nowhere, 'orders', 'projections rebuild').outcome()).toMatchObject({ code: 2 });
  expect((await shop.api.orders({ limit: 1 })).total).toBe(before);
});
