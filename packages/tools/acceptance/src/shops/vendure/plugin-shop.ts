import { until } from '../../harness/until.ts';
import type { ShopGateway } from '../setup/gateway.ts';
import type { ShopOptions } from '../setup/shop.ts';
import { startVendure, type VendureCurrency, type VendureOrder, type VendureShop } from './vendure-shop.ts';

export const METHOD = 'crypto';

type Shopper = ReturnType<VendureShop['shopper']>;

/** Starts Vendure with the plugin, and offers it to shoppers. */
export const startVendureWithPlugin = async (
  { options }: ShopGateway,
  more: object = {},
  env?: ShopOptions['env'],
): Promise<VendureShop> => {
  const shop = await startVendure({ plugin: { ...options, shop: 'vendure', ...more }, ...(env && { env }) });
  await shop.staff.offer(METHOD, 'crypto-payments');
  return shop;
};

export interface Opened {
  readonly paymentUrl?: string;
  readonly coin?: string;
  readonly amount?: string;
  readonly code?: string;
  readonly message?: string;
}

/** What a storefront does at "Pay with crypto". */
export const openPayment = async (shopper: Shopper, coin?: string): Promise<Opened> => {
  const query = `mutation ($coin: String) { openCryptoPayment(coin: $coin) {
    ... on CryptoPayment { paymentUrl coin amount } ... on CryptoPaymentRefusal { code message } } }`;
  return (await shopper.call(query, { coin })).openCryptoPayment as Opened;
};

export interface Checkout {
  readonly shopper: Shopper;
  readonly cart: VendureOrder;
  /** The order of the gateway. */
  readonly gatewayOrderId: string;
}

/** A cart whose payment page is open. */
export const checkOut = async (
  shop: VendureShop,
  gateway: ShopGateway,
  { currency = 'USD', coin }: { currency?: VendureCurrency; coin?: string } = {},
): Promise<Checkout> => {
  const shopper = shop.shopper(currency);
  const cart = await shopper.createCart();
  const opened = await openPayment(shopper, coin);
  if (opened.paymentUrl === undefined) throw new Error(`no payment page: ${JSON.stringify(opened)}`);
  return { shopper, cart, gatewayOrderId: await orderOfPage(gateway, opened) };
};

/** The id of the order whose payment page this is. */
export const orderOfPage = async (gateway: ShopGateway, { paymentUrl }: Opened): Promise<string> => {
  const search = new URL(paymentUrl!).pathname.split('/').at(-1)!;
  return until(`the order of ${paymentUrl}`, async () => (await gateway.client.listOrders({ search })).items[0]?.id);
};

const settledOf = ({ payments }: VendureOrder) => (payments ?? []).filter(({ state }) => state === 'Settled');

/** Waits until the order is settled, and checks that it has this one payment. */
export const soldOnce = async (shop: VendureShop, { cart, gatewayOrderId }: Checkout): Promise<VendureOrder> => {
  const order = await until(`the order ${cart.code} to be settled`, async () => {
    const found = await shop.staff.order(cart.id);
    return found.state === 'PaymentSettled' && found;
  });
  expect(settledOf(order).map(({ transactionId }) => transactionId)).toEqual([gatewayOrderId]);
  return order;
};

/** Waits until staff reads a private note with this text at the order, and checks that it is there once. */
export const staffReads = async (shop: VendureShop, { cart }: Checkout, sentence: RegExp): Promise<void> => {
  const notes = async () =>
    (await shop.staff.history(cart.id)).filter(
      ({ type, isPublic, data }) => type === 'ORDER_NOTE' && !isPublic && sentence.test(String(data.note)),
    );
  await until(`staff to read ${sentence}`, async () => (await notes()).length > 0);
  expect(await notes()).toHaveLength(1);
};
