import type { Client, ItemDto, MerchantCreateOrderDto, Order, PaymentCurrency, Rail } from '@cpg/sdk';
import { decimalsOf, decimalText, type Money } from './money/amount.ts';
import { type CartLine, itemsOf } from './money/items.ts';
import { ask, done, invalid, type Outcome } from './outcome.ts';

/** A cart that wants to be paid. */
export interface Cart {
  /** The shop's id of the cart or order: the `external_reference_id`. */
  readonly reference: string;
  readonly lines: readonly CartLine[];
  readonly total: Money;
  /** The coin that the shopper chose. */
  readonly coin: PaymentCurrency;
  readonly rails: readonly Rail[];
  readonly returnUrl?: string | undefined;
  readonly cancelUrl?: string | undefined;
  /** Orders of the gateway that the shop has taken already: a further payment of the same cart gets a new one. */
  readonly settled?: readonly string[];
  /** 60 without it. */
  readonly expirationMinutes?: number | undefined;
  /** Of the shop's own; `shop` is set by this client. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface Refund {
  readonly orderId: string;
  /** In a price currency of the order. */
  readonly amount: Money;
  /** The shop's id of the refund: the same id is one refund, however often it is sent. */
  readonly key: string;
  readonly reason?: string | undefined;
}

export interface Orders {
  /** The order of the gateway for this cart: a new one, or its newest one with the present items. No second order stays
   *  payable. `payment_in_progress` if money was seen for the cart as it was before. A shop that stored the id of the
   *  order saves a request by giving it as `known`. */
  readonly open: (cart: Cart, known?: string) => Promise<Outcome<Order>>;
  /** The newest order of a cart. */
  readonly newest: (reference: string) => Promise<Outcome<Order | undefined>>;
  readonly read: (id: string) => Promise<Outcome<Order>>;
  /** Cancels an order for which no money was seen: `payment_in_progress` otherwise. An order that is closed already is
   *  returned as it is: look at its status. */
  readonly cancel: (id: string) => Promise<Outcome<Order>>;
  /** Records a refund, over as many payments as it takes. Resolves with its id. */
  readonly refund: (refund: Refund) => Promise<Outcome<{ readonly id: string }>>;
}

const LONGEST_REFERENCE = 100;
const isOpen = ({ status }: Order) => ['initialized', 'awaiting_payment', 'partially_paid'].includes(status);

export const createOrders = (client: Client, shop: string): Orders => {
  const read = (id: string) => ask(() => client.getOrder(id));

  const cancel = async (id: string): Promise<Outcome<Order>> => {
    const canceled = await ask(() => client.cancelOrder(id, { if_unpaid: true }));
    return !canceled.ok && canceled.fault.code === 'order_state_conflict' ? read(id) : canceled;
  };

  const newest = async (reference: string): Promise<Outcome<Order | undefined>> => {
    const query = { external_reference_id: reference, metadata: `shop=${shop}`, limit: 1 };
    const list = await ask(() => client.listOrders(query));
    const [found] = list.ok ? list.value.items : [];
    // The list can be behind: an order that it does not show yet is found by its Idempotency-Key.
    return !list.ok ? list : found ? read(found.id) : done(undefined);
  };

  const create = async (cart: Cart, items: ItemDto[], previous: string | undefined): Promise<Outcome<Order>> => {
    // Two tabs, and a repeat after a crash, have the same key: they get one order.
    const idempotencyKey = [shop, cart.reference, previous ?? 'first'].map(encodeURIComponent).join('/');
    const created = await ask(() => client.createOrder(bodyOf(cart, items, shop), { idempotencyKey }));
    if (created.ok || created.fault.code !== 'idempotency_key_reused') return created;
    // Another process made it of another cart.
    const found = await newest(cart.reference);
    if (!found.ok) return found;
    return found.value && isOpen(found.value) ? change(found.value, cart, items) : created;
  };

  const change = async (order: Order, cart: Cart, items: ItemDto[]): Promise<Outcome<Order>> => {
    const isNews = order.status === 'paid' && !cart.settled?.includes(order.id);
    if (!isOpen(order)) return isNews ? done(order) : create(cart, items, order.id);
    if (order.currency !== cart.coin) {
      const canceled = await cancel(order.id);
      if (!canceled.ok) return canceled;
      return canceled.value.status === 'paid' ? canceled : create(cart, items, order.id);
    }
    if (isSameItems(order, items)) return done(order);
    const changed = await ask(() => client.updateOrder(order.id, { items }));
    if (changed.ok || changed.fault.code !== 'order_state_conflict') return changed;
    // It was closed between the two requests.
    const closed = await read(order.id);
    return closed.ok && !isOpen(closed.value) ? change(closed.value, cart, items) : closed;
  };

  return {
    read,
    newest,
    cancel,
    open: async (cart, known) => {
      if (cart.reference.length > LONGEST_REFERENCE) return invalid('reference', 'the id of the cart is too long');
      const items = itemsOf(cart.lines, cart.total);
      if (items === 'nothing_to_pay') return invalid(items, 'the total of the cart is not more than zero');
      const order = known === undefined ? await newest(cart.reference) : await read(known);
      if (order.ok) return order.value ? change(order.value, cart, items) : create(cart, items, undefined);
      return order.fault.code === 'not_found' ? create(cart, items, known) : order;
    },
    refund: async ({ orderId, amount, key, reason }) => {
      const { minor, currency } = amount;
      const body = { amount: decimalText(minor, decimalsOf(currency)), currency, reason: reason || undefined };
      const refund = await ask(() => client.refundOrder(orderId, body, { idempotencyKey: key }));
      return refund.ok ? done({ id: refund.value.id }) : refund;
    },
  };
};

const bodyOf = (cart: Cart, items: ItemDto[], shop: string): MerchantCreateOrderDto => ({
  external_reference_id: cart.reference,
  items,
  enable_rails: [...cart.rails],
  payment_currency: cart.coin,
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: true,
    expiration_auto_renewal: false,
  },
  return_url: cart.returnUrl,
  cancel_url: cart.cancelUrl,
  expiration_minutes: cart.expirationMinutes,
  metadata: { ...cart.metadata, shop },
});

const isSameItems = (order: Order, items: readonly ItemDto[]): boolean => {
  const textOf = (list: readonly ItemDto[]) =>
    JSON.stringify(
      list.map(({ name, quantity, unit_price, currency, kind = 'product' }) => [
        name,
        quantity,
        unit_price,
        currency,
        kind,
      ]),
    );
  return textOf(order.items) === textOf(items);
};
