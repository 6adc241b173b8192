import type { Order } from '@cpg/sdk';
import {
  type Cart,
  decimalsOf,
  minorOfDecimal,
  type Money,
  type Outcome,
  priceCurrency,
  type Shop,
  type Store,
} from '@cpg/shop-client';

/** The order of the gateway that the payment page of a cart shows, and the payment session that shows it: null once
 *  that session was deleted. */
interface Page {
  readonly order: string;
  readonly session: string | null;
}

const MOST_ATTEMPTS = 5;
const nameOf = (collectionId: string) => `page:${collectionId}`;

export interface Pages {
  /** The order of the gateway for a cart, of which at most one is payable. `cart.reference` is the payment
   *  collection. */
  readonly open: (cart: Cart, sessionId: string) => Promise<Outcome<Order>>;
  /** Cancels the order of a deleted session if no money was seen for it, unless a newer session shows it. */
  readonly close: (collectionId: string, sessionId: string, orderId: string) => Promise<Outcome<Order> | undefined>;
}

/** Medusa starts a new session and deletes the old one at the same time. Both change the same row of the store, and who
 *  comes second sees what the first did. */
export const createPages = (orders: Shop['orders'], store: Store): Pages => ({
  open: async (cart, sessionId) => {
    for (let attempt = 0; ; attempt += 1) {
      const text = await store.read(nameOf(cart.reference));
      const page = parsed(text);
      // A deletion may be about to cancel it: it is not shown again, unless money was seen.
      if (page?.session === null) await orders.cancel(page.order);
      const found = await orders.open(cart, page?.order);
      // It was paid for the cart as it was before: that money is for people to decide about.
      const opened =
        found.ok && !isFor(found.value, cart)
          ? await orders.open({ ...cart, settled: [found.value.id] }, found.value.id)
          : found;
      if (!opened.ok) return opened;
      const next: Page = { order: opened.value.id, session: sessionId };
      if (await store.replace(nameOf(cart.reference), text, JSON.stringify(next))) return opened;
      if (attempt === MOST_ATTEMPTS) throw new Error(`the payment page of ${cart.reference} changes all the time`);
    }
  },
  close: async (collectionId, sessionId, orderId) => {
    const text = await store.read(nameOf(collectionId));
    if (parsed(text)?.session !== sessionId) return undefined;
    const released: Page = { order: orderId, session: null };
    if (!(await store.replace(nameOf(collectionId), text, JSON.stringify(released)))) return undefined;
    return orders.cancel(orderId);
  },
});

/** Whether an order of the gateway is for the total of a cart. */
const isFor = (order: Order, { total }: Pick<Cart, 'total'>): boolean => pricedAt(order)?.minor === total.minor;

/** The price of an order in the currency of the shop. All items of an order of this plugin have the same. */
export const pricedAt = ({ item_totals }: Order): Money | undefined => {
  const [currency, text] = Object.entries(item_totals)[0] ?? [];
  const known = currency && priceCurrency(currency);
  return known && text !== undefined ? { minor: minorOfDecimal(text, decimalsOf(known)), currency: known } : undefined;
};

const parsed = (text: string | undefined): Page | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as Page);
