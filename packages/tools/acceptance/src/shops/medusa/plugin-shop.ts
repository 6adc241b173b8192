import { type ShopGateway } from '../setup/gateway.ts';
import { until } from '../../harness/until.ts';
import { type MedusaCurrency, type MedusaOrder, type MedusaShop, startMedusa } from './medusa-shop.ts';

export const PROVIDER = 'pp_crypto_gateway';

/** Starts Medusa with the plugin, and offers it in every region. */
export const startMedusaWithPlugin = async ({ options }: ShopGateway, more: object = {}): Promise<MedusaShop> => {
  const shop = await startMedusa({ plugin: { ...options, ...more } });
  await shop.staff.offer(PROVIDER);
  return shop;
};

/** A cart whose payment was started. */
export interface Checkout {
  readonly cartId: string;
  /** The order of the gateway, and its payment page. */
  readonly orderId: string;
  readonly url: string;
}

export const checkOut = async (
  shop: MedusaShop,
  { currency = 'usd', coin }: { currency?: MedusaCurrency; coin?: string } = {},
): Promise<Checkout> => {
  const cart = await shop.shopper.createCart(currency);
  return startPayment(shop, cart.id, coin);
};

export const startPayment = async (shop: MedusaShop, cartId: string, coin?: string): Promise<Checkout> => {
  const { data } = await shop.shopper.startPayment(cartId, PROVIDER, coin === undefined ? undefined : { coin });
  return { cartId, orderId: String(data.order_id), url: String(data.payment_url) };
};

/** Waits until the shop has a captured order for this order of the gateway. Throws if it has more than one. */
export const soldOnce = async (shop: MedusaShop, gatewayOrderId: string): Promise<MedusaOrder> => {
  const found = await until('the order to be captured in the shop', async () => {
    const orders = await ordersOf(shop, gatewayOrderId);
    return orders.find(
      ({ payment_status, payments }) =>
        PAID.includes(payment_status) && payments.some(({ captures }) => captures.length > 0),
    );
  });
  const orders = await ordersOf(shop, gatewayOrderId);
  if (orders.length !== 1) throw new Error(`${orders.length} orders for one payment: ${JSON.stringify(orders)}`);
  return found;
};

const PAID = ['captured', 'partially_refunded', 'refunded'];

export const ordersOf = async (shop: MedusaShop, gatewayOrderId: string): Promise<MedusaOrder[]> =>
  (await shop.staff.orders()).filter(({ payments }) => payments.some(({ data }) => data?.order_id === gatewayOrderId));

/** Waits until the staff reads a sentence in the bell of the admin. */
export const staffReads = (shop: MedusaShop, gatewayOrderId: string, sentence: RegExp): Promise<string> =>
  until(`the staff to read ${sentence} of ${gatewayOrderId}`, async () => {
    const texts = (await shop.staff.notifications()).map(({ description }) => description);
    return texts.find((text) => text.includes(gatewayOrderId) && sentence.test(text));
  });
