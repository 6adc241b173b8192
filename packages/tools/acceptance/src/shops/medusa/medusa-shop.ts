import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { jsonApi, okBody } from '../setup/json-api.ts';
import { type RunningShop, seededBy, type ShopOptions, startShop } from '../setup/shop.ts';

/** Medusa's built-in payment, which takes no money. */
export const TEST_PAYMENT = 'pp_system_default';

export type MedusaCurrency = 'usd' | 'mxn' | 'jpy' | 'sek';

interface MedusaCart {
  readonly id: string;
  readonly total: number;
  readonly currency_code: string;
}

interface MedusaSession {
  readonly id: string;
  readonly amount: number;
  readonly status: string;
  /** What the plugin gives to the storefront. */
  readonly data: Record<string, unknown>;
}

/** An order as the staff sees it. */
export interface MedusaOrder {
  readonly id: string;
  readonly total: number;
  readonly payment_status: string;
  readonly status: string;
  readonly payments: readonly MedusaPayment[];
  readonly metadata: Record<string, unknown> | null;
}

interface MedusaPayment {
  readonly id: string;
  readonly amount: number;
  readonly provider_id: string;
  readonly captures: readonly { readonly amount: number }[];
  readonly refunds: readonly { readonly amount: number; readonly note: string | null }[];
  readonly data: Record<string, unknown>;
}

type Answered = Omit<MedusaOrder, 'payments'> & {
  readonly payment_collections: readonly { readonly payments: readonly MedusaPayment[] }[];
};

type Completion =
  | { readonly type: 'order'; readonly orderId: string }
  | { readonly type: 'cart'; readonly error: string }
  | { readonly type: 'error'; readonly status: number; readonly message: string };

const Seeded = z.object({
  publishableKey: z.string(),
  variantId: z.string(),
  regions: z.record(z.string(), z.string()),
});
const STAFF = { email: 'staff@shop.example', password: 'staff-of-the-shop' };
const SHIPPING_ADDRESS = {
  first_name: 'Ada',
  last_name: 'Test',
  address_1: 'Street 1',
  city: 'City',
  postal_code: '1000',
};
const ORDER_FIELDS =
  'id,total,status,payment_status,metadata,*payment_collections.payments,*payment_collections.payments.captures,*payment_collections.payments.refunds';

export type MedusaShop = Awaited<ReturnType<typeof startMedusa>>;

/** Starts Medusa as a merchant runs it: `medusa start`. */
export const startMedusa = async (options: ShopOptions = {}) => {
  const shop = await startShop('medusa', ['node_modules/@medusajs/cli/cli.js', 'start'], options);
  const seeded = seededBy('medusa', Seeded);
  return { ...shop, shopper: shopperOf(shop, seeded), staff: await staffOf(shop, seeded) };
};

/** What a storefront does for a shopper. */
const shopperOf = (shop: RunningShop, { publishableKey, variantId, regions }: z.infer<typeof Seeded>) => {
  const call = jsonApi(
    () => shop.baseUrl,
    () => ({ 'x-publishable-api-key': publishableKey }),
  );
  const cart = async (id: string): Promise<MedusaCart> => okBody(await call('GET', `/store/carts/${id}`)).cart;

  const addLine = async (cartId: string, quantity = 1): Promise<MedusaCart> =>
    okBody(await call('POST', `/store/carts/${cartId}/line-items`, { variant_id: variantId, quantity })).cart;

  /** A cart with one tea pot, an address and a way of shipping: ready to be paid. */
  const createCart = async (currency: MedusaCurrency = 'usd', email = 'ada'): Promise<MedusaCart> => {
    const { id } = okBody(
      await call('POST', '/store/carts', {
        region_id: regions[currency],
        // Medusa refuses two carts at once that make the same customer.
        email: `${email}-${randomUUID()}@shopper.example`,
        shipping_address: { ...SHIPPING_ADDRESS, country_code: COUNTRY[currency] },
      }),
    ).cart;
    await addLine(id);
    const { shipping_options } = okBody(await call('GET', `/store/shipping-options?cart_id=${id}`));
    okBody(await call('POST', `/store/carts/${id}/shipping-methods`, { option_id: shipping_options[0].id }));
    return cart(id);
  };

  /** `data` is what the storefront gives to the provider. */
  const startPayment = async (cartId: string, provider: string, data?: object): Promise<MedusaSession> => {
    const { payment_collection } = okBody(await call('POST', '/store/payment-collections', { cart_id: cartId }));
    const started = okBody(
      await call('POST', `/store/payment-collections/${payment_collection.id}/payment-sessions`, {
        provider_id: provider,
        data,
      }),
    ).payment_collection;
    return started.payment_sessions.find((session: { provider_id: string }) => session.provider_id === provider);
  };

  const complete = async (cartId: string): Promise<Completion> => {
    const { status, body } = await call('POST', `/store/carts/${cartId}/complete`, {});
    if (status !== 200) return { type: 'error', status, message: String(body.message) };
    return body.type === 'order'
      ? { type: 'order', orderId: body.order.id }
      : { type: 'cart', error: String(body.error.message) };
  };

  return { call, cart, addLine, createCart, startPayment, complete };
};

const COUNTRY: Record<MedusaCurrency, string> = { usd: 'us', mxn: 'mx', jpy: 'jp', sek: 'se' };

/** What the staff does in Medusa's admin. */
const staffOf = async (shop: RunningShop, { regions }: z.infer<typeof Seeded>) => {
  const anonymous = jsonApi(
    () => shop.baseUrl,
    () => ({}),
  );
  const { token } = okBody(await anonymous('POST', '/auth/user/emailpass', STAFF));
  const call = jsonApi(
    () => shop.baseUrl,
    () => ({ authorization: `Bearer ${token}` }),
  );
  const toOrder = ({ payment_collections, ...order }: Answered): MedusaOrder => ({
    ...order,
    payments: payment_collections.flatMap(({ payments }) => payments),
  });

  return {
    call,
    order: async (id: string): Promise<MedusaOrder> =>
      toOrder(okBody(await call('GET', `/admin/orders/${id}?fields=${ORDER_FIELDS}`)).order),
    /** All orders of the shop. */
    orders: async (): Promise<MedusaOrder[]> =>
      okBody(await call('GET', `/admin/orders?limit=1000&fields=${ORDER_FIELDS}`)).orders.map(toOrder),
    capture: async (paymentId: string) => void okBody(await call('POST', `/admin/payments/${paymentId}/capture`, {})),
    refund: (paymentId: string, amount: number, note?: string) =>
      call('POST', `/admin/payments/${paymentId}/refund`, { amount, note }),
    cancelOrder: (id: string) => call('POST', `/admin/orders/${id}/cancel`, {}),
    /** Lets shoppers of every region pay by a provider, as the staff does it under "Regions". */
    offer: async (provider: string) => {
      const body = { payment_providers: [TEST_PAYMENT, provider] };
      for (const id of Object.values(regions)) okBody(await call('POST', `/admin/regions/${id}`, body));
    },
    /** Sets how many tea pots there are, and resolves with how many there were. */
    setStock: async (count: number): Promise<number> => {
      const { inventory_items } = okBody(await call('GET', '/admin/inventory-items?fields=id,*location_levels'));
      const [{ id, location_levels }] = inventory_items;
      const [{ location_id, stocked_quantity, reserved_quantity }] = location_levels;
      const body = { stocked_quantity: count + (count === 0 ? reserved_quantity : 0) };
      okBody(await call('POST', `/admin/inventory-items/${id}/location-levels/${location_id}`, body));
      return stocked_quantity;
    },
    /** The titles and texts of the bell in the admin, the newest first. */
    notifications: async (): Promise<{ title: string; description: string }[]> =>
      okBody(await call('GET', '/admin/notifications?channel=feed&limit=100&order=-created_at')).notifications.map(
        ({ data }: { data: object }) => data,
      ),
  };
};
