import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openShop, type Shop } from '../harness/merchants.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { serviceAdmin, type ServiceName } from '../harness/services.ts';
import { purchase, type Purchase } from '../harness/shoppers.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const SERVICES: ServiceName[] = ['orders', 'payments'];
const PAUSE_MS = 200;

let stack: Stack;
let shop: Shop;
let database: pg.Client;

beforeAll(async () => {
  stack = await startStack();
  shop = await openShop(stack);
  database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
});

afterAll(async () => {
  await shop?.api.close();
  await database?.end();
  await stack?.stop();
});

const SUCCESS = { code: 0, output: expect.any(String) };
const ROWS_DIFFER = 1;
const COMMAND_FAILED = 2;

const startOnBoth = (command: string) => SERVICES.map((service) => serviceAdmin(stack, service, command));
const runOnBoth = (command: string) => Promise.all(startOnBoth(command).map(({ outcome }) => outcome()));

/** Starts three shoppers. They read each order back right after its payment, and delete every fifth order. */
const startShoppersThatReadBack = () => {
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
      await sleep(PAUSE_MS);
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
  // `waitUntil` and `stop` report the error.
  running.catch(() => {});
  return {
    kept,
    deleted,
    /** Waits for `condition`. If a shopper fails, rejects with its error instead of a timeout. */
    waitUntil: (description: string, condition: () => boolean) =>
      Promise.race([until(description, condition), running]),
    stop: async () => {
      stopped = true;
      await running;
    },
  };
};

test('a rebuild under load, also after a killed one, loses no order and restores no deleted order', async () => {
  const shoppers = startShoppersThatReadBack();
  await shoppers.waitUntil('purchases', () => shoppers.kept.length >= 5);
  const exitCodes: (number | null)[] = [];
  for (let round = 0; round < 3; round += 1) {
    const rebuilds = startOnBoth('projections rebuild');
    await sleep(200 * (round + 1));
    for (const { kill, outcome } of rebuilds) {
      kill();
      exitCodes.push((await outcome()).code);
    }
    expect(await runOnBoth('projections rebuild')).toEqual([SUCCESS, SUCCESS]);
  }
  // A killed command has the exit code null.
  expect(exitCodes).toContain(null);
  expect(await runOnBoth('projections verify')).toEqual([SUCCESS, SUCCESS]);
  const keptBefore = shoppers.kept.length;
  await shoppers.waitUntil(
    'purchases after the rebuilds',
    () => shoppers.kept.length > keptBefore + 5 && shoppers.deleted.length > 0,
  );
  await shoppers.stop();

  expect(shoppers.kept.length).toBe((await shop.api.orders({ limit: 1 })).total);
  for (const { order } of shoppers.kept) expect(await shop.api.order(order.id)).toEqual(order);
  for (const { order } of shoppers.deleted) {
    expect((await shop.api.send('GET', `/v1/orders/${order.id}`)).status).toBe(404);
    expect((await shop.api.send('GET', `/v1/payments/${order.payments[0]!.id}`)).status).toBe(404);
  }
  expect(await runOnBoth('projections verify')).toEqual([SUCCESS, SUCCESS]);
});

test('verify reports each wrong column, and a rebuild corrects it', async () => {
  const open = await shop.api.createOrder(orderBody());
  const { order } = await purchase(shop.api);
  await database.query("update orders.orders set status = 'expired', due_at = null where id = $1", [open.id]);
  const paymentId = order.payments[0]!.id;
  await database.query("update payments.payments set currency = 'ETH' where id = $1", [paymentId]);

  const [orders, payments] = await runOnBoth('projections verify');
  expect(orders).toMatchObject({ code: ROWS_DIFFER });
  expect(orders!.output).toContain(`${open.id}: status is "expired", expected "awaiting_payment" from the event store`);
  expect(orders!.output).toContain(`${open.id}: due_at is null, expected "`);
  expect(payments).toMatchObject({ code: ROWS_DIFFER });
  expect(payments!.output).toContain(
    `${paymentId}: currency is "ETH", expected "${order.currency}" from the event store`,
  );

  expect(await runOnBoth('projections rebuild')).toEqual([SUCCESS, SUCCESS]);
  expect(await runOnBoth('projections verify')).toEqual([SUCCESS, SUCCESS]);
  expect((await shop.api.orders({ status: 'awaiting_payment' })).items).toContainEqual(open);
  const found = await shop.api.payments({ currency: order.currency });
  expect(found.items).toContainEqual(order.payments[0]);
});

test('a rebuild without an event store fails and changes nothing', async () => {
  const withoutEventStore = {
    ...stack,
    environment: { ...stack.environment, EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' },
  };
  const totalBefore = (await shop.api.orders({ limit: 1 })).total;
  expect(await serviceAdmin(withoutEventStore, 'orders', 'projections rebuild').outcome()).toMatchObject({
    code: COMMAND_FAILED,
  });
  expect((await shop.api.orders({ limit: 1 })).total).toBe(totalBefore);
});
