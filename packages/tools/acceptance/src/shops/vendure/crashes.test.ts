import pg from 'pg';
import { until } from '../../harness/until.ts';
import { type KillableGateway, openGatewayAndShop, openKillableGateway } from '../setup/gateway.ts';
import {
  checkOut,
  METHOD,
  openPayment,
  orderOfPage,
  soldOnce,
  staffReads,
  startVendureWithPlugin,
} from './plugin-shop.ts';
import { TEST_PAYMENT, type VendureShop } from './vendure-shop.ts';

let gateway: KillableGateway;
let shop: VendureShop;
let close: () => Promise<void>;
/** One connection holds locks, the other one sees who waits for them. */
let locks: pg.Client;
let activity: pg.Client;
beforeAll(async () => {
  ({ gateway, shop, close } = await openGatewayAndShop(openKillableGateway, startVendureWithPlugin));
  [locks, activity] = [0, 1].map(() => new pg.Client({ connectionString: shop.databaseUrl })) as [pg.Client, pg.Client];
  await Promise.all([locks.connect(), activity.connect()]);
});
afterAll(async () => {
  await Promise.all([locks?.end(), activity?.end()]);
  await close?.();
});

const shopWaits = async (): Promise<boolean> => {
  const { rows } = await activity.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
};

// What the plugin reads first, what it writes, and what it writes last.
test.each(['order', 'payment', 'history_entry'])(
  'a shop that is killed while it waits for the table %s sells a paid cart once',
  async (table) => {
    const checkout = await checkOut(shop, gateway);
    await locks.query('begin');
    await locks.query(`lock table "${table}" in exclusive mode`);
    await gateway.pay(checkout.gatewayOrderId);
    await until('the shop to wait for the lock', shopWaits);
    await shop.kill();
    await locks.query('rollback');
    await shop.start();
    await soldOnce(shop, checkout);
  },
);

test('a shop and a gateway that are killed at once sell a paid cart once', async () => {
  const checkout = await checkOut(shop, gateway);
  await gateway.pay(checkout.gatewayOrderId);
  gateway.kill();
  await shop.kill();
  await shop.start();
  await soldOnce(shop, checkout);
});

test('without the gateway a cart can be changed and paid in another way', async () => {
  const checkout = await checkOut(shop, gateway);
  const { shopper, cart, gatewayOrderId } = checkout;
  await gateway.block();
  expect(await openPayment(shopper)).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  expect(await shopper.moveTo('AddingItems')).toMatchObject({ state: 'AddingItems' });
  expect(await shopper.addLine()).toMatchObject({ totalWithTax: 2600 });
  await shopper.moveTo('ArrangingPayment');
  expect(await shopper.pay(TEST_PAYMENT)).toMatchObject({ state: 'PaymentAuthorized' });
  await gateway.unblock();
  // The page of the first payment could not be closed.
  await gateway.pay(gatewayOrderId);
  await staffReads(shop, checkout, /Paid a second time: this order was paid in another way before/);
  expect(await shop.staff.order(cart.id)).toMatchObject({ state: 'PaymentAuthorized', payments: [{ amount: 2600 }] });
});

test('a payment that comes while the shop cannot reach the gateway is an order afterwards', async () => {
  const checkout = await checkOut(shop, gateway);
  await gateway.block();
  await gateway.pay(checkout.gatewayOrderId);
  expect(await checkout.shopper.pay(METHOD)).toMatchObject({ errorCode: expect.any(String) });
  await gateway.unblock();
  const { payments } = await soldOnce(shop, checkout);
  const { id } = payments!.find(({ state }) => state === 'Settled')!;
  await gateway.block();
  expect(await shop.staff.refund(id, 500)).toMatchObject({ state: 'Failed' });
  await gateway.unblock();
  expect(await shop.staff.refund(id, 500)).toMatchObject({ state: 'Settled' });
  const { refunds } = await gateway.client.getOrder(checkout.gatewayOrderId);
  expect(refunds).toMatchObject([{ requested_amount: '5.00' }]);
});

test('the page of a cart that changed without the gateway stays payable, and the rest can be paid', async () => {
  const old = await checkOut(shop, gateway);
  await gateway.block();
  await old.shopper.moveTo('AddingItems');
  await old.shopper.addLine();
  await gateway.unblock();
  await gateway.pay(old.gatewayOrderId);
  await staffReads(shop, old, /The cart changed after its payment page was opened, and is not paid in full/);
  const rest = await orderOfPage(gateway, await openPayment(old.shopper));
  expect(await gateway.client.getOrder(rest)).toMatchObject({ item_totals: { USD: '10.50' } });
  await gateway.pay(rest);
  const sold = await until('the order to be settled', async () => {
    const order = await shop.staff.order(old.cart.id);
    return order.state === 'PaymentSettled' && order;
  });
  expect(sold.payments!.map(({ transactionId, amount }) => [transactionId, amount])).toEqual([
    [old.gatewayOrderId, 1550],
    [rest, 1050],
  ]);
});
