import { deliver, secretOf, signDelivery } from './setup/deliveries.ts';
import { openGateway, openGatewayAndShop, type ShopGateway } from './setup/gateway.ts';
import type { ShopName } from './setup/installed.ts';
import type { RunningShop } from './setup/shop.ts';

/** A cart whose payment page is open. */
interface OpenCart {
  /** The order of the gateway. */
  readonly orderId: string;
  readonly expectUnsold: () => Promise<void>;
  /** Waits until the shop has sold the cart. Throws if it sold it more than once. */
  readonly soldOnce: () => Promise<unknown>;
}

/** Tests of deliveries that the plugin of every kind of shop passes. */
export const testWebhooks = <Shop extends RunningShop>(
  name: ShopName,
  start: (gateway: ShopGateway) => Promise<Shop>,
  checkOutIn: (shop: Shop, gateway: ShopGateway) => Promise<OpenCart>,
): void => {
  let gateway: ShopGateway;
  let shop: Shop;
  let close: () => Promise<void>;
  const checkOut = () => checkOutIn(shop, gateway);
  let secret: string;
  let hook: string;
  beforeAll(async () => {
    ({ gateway, shop, close } = await openGatewayAndShop(openGateway, start));
    await checkOut(); // registers the webhook
    secret = await secretOf(name, shop.databaseUrl);
    hook = `${shop.baseUrl}/crypto-payments/webhook`;
  });
  afterAll(() => close?.());

  test('the shop registers one webhook for itself', async () => {
    await checkOut();
    const { items } = await gateway.client.listWebhooks();
    expect(items).toMatchObject([{ label: `Shop ${name}`, filter: { shop: name }, is_enabled: true, url: hook }]);
  });

  test('forged deliveries change nothing', async () => {
    const { orderId, expectUnsold } = await checkOut();
    const order = await gateway.client.getOrder(orderId);
    const paid = { ...order, status: 'paid' as const, remaining_amount: '0' };
    const signed = signDelivery(paid, secret);
    expect(await deliver(hook, { ...signed, body: signed.body.replace('order:updated', 'order:paid') })).toBe(400);
    expect(await deliver(hook, { ...signed, headers: { 'content-type': 'application/json' } })).toBe(400);
    const other = `whsec_${Buffer.alloc(32).toString('base64')}`;
    expect(await deliver(hook, signDelivery(paid, other))).toBe(400);
    // Even with the secret, what the gateway has counts.
    expect(await deliver(hook, signed)).toBe(204);
    await expectUnsold();
  });

  test('an order of another shop is none of this one', async () => {
    const { orderId, expectUnsold } = await checkOut();
    const order = await gateway.client.getOrder(orderId);
    expect(await deliver(hook, signDelivery({ ...order, metadata: { shop: 'other' } }, secret))).toBe(204);
    await expectUnsold();
  });

  test('five copies at once, in two processes, late and in the wrong order, sell one order', async () => {
    const other = await shop.startAnother();
    const { orderId, soldOnce } = await checkOut();
    await gateway.disableWebhooks();
    const before = await gateway.client.getOrder(orderId);
    await gateway.pay(orderId);
    const after = await gateway.client.getOrder(orderId);
    const hooks = [hook, `${other.baseUrl}/crypto-payments/webhook`];
    const copies = Array.from({ length: 5 }, () => [after, before]).flat();
    const statuses = await Promise.all(
      copies.map((order, n) => deliver(hooks[n % 4 < 2 ? 0 : 1]!, signDelivery(order, secret))),
    );
    expect(new Set(statuses)).toEqual(new Set([204]));
    await soldOnce();
    expect(await deliver(hook, signDelivery(before, secret))).toBe(204);
    await soldOnce();
    await other.kill();
  });

  test('a payment whose delivery never came is found after a start', async () => {
    const { orderId, soldOnce } = await checkOut();
    await gateway.disableWebhooks();
    await gateway.pay(orderId);
    await shop.kill();
    await shop.start();
    await soldOnce();
  });
};
