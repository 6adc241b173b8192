import { z } from 'zod';
import { type RunningShop, seededBy, type ShopOptions, startShop } from '../setup/shop.ts';

/** Vendure's built-in payment, which takes no money. */
export const TEST_PAYMENT = 'test-payment';

export type VendureCurrency = 'USD' | 'MXN' | 'JPY' | 'SEK';

/** Amounts are in minor units. */
export interface VendureOrder {
  readonly id: string;
  readonly code: string;
  readonly state: string;
  readonly totalWithTax: number;
  readonly currencyCode: string;
  readonly payments: readonly VendurePayment[] | null;
}

interface VendurePayment {
  readonly id: string;
  readonly method: string;
  readonly amount: number;
  readonly state: string;
  readonly transactionId: string | null;
  readonly errorMessage: string | null;
  readonly metadata: Record<string, unknown>;
  readonly refunds: readonly { readonly id: string; readonly total: number; readonly state: string }[];
}

/** A mutation that Vendure refused: it answers with an error as a value. */
interface VendureRefusal {
  readonly errorCode: string;
  readonly message: string;
  readonly paymentErrorMessage?: string;
}

const ORDER = `id code state totalWithTax currencyCode
  payments { id method amount state transactionId errorMessage metadata refunds { id total state } }`;
const REFUSAL = `... on ErrorResult { errorCode message }`;
const STAFF = { username: 'staff', password: 'staff-of-the-shop' };

type Variables = Record<string, unknown>;

/** Calls one GraphQL API as one user. Vendure names the user by a token that it gives with an answer. */
const session = (url: () => string) => {
  let token: string | null = null;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests check its shape
  return async (query: string, variables: Variables = {}): Promise<any> => {
    const response = await fetch(url(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token !== null && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, variables }),
    });
    token = response.headers.get('vendure-auth-token') ?? token;
    const { data, errors } = (await response.json()) as { data?: Variables; errors?: unknown[] };
    if (errors) throw new Error(`the shop answered ${JSON.stringify(errors)}`);
    return data;
  };
};

const Seeded = z.object({ variantId: z.string() });

export type VendureShop = Awaited<ReturnType<typeof startVendure>>;

/** Starts Vendure, its worker in the same process. */
export const startVendure = async (options: ShopOptions = {}) => {
  const shop = await startShop('vendure', ['server.js'], options);
  const { variantId } = seededBy('vendure', Seeded);
  return {
    ...shop,
    /** Each shopper has a cart of their own. */
    shopper: (currency: VendureCurrency = 'USD') => shopperOf(shop, variantId, currency),
    staff: await staffOf(shop),
  };
};

/** What a storefront does for a shopper. */
const shopperOf = (shop: RunningShop, variantId: string, currency: VendureCurrency) => {
  const call = session(() => `${shop.baseUrl}/shop-api?currencyCode=${currency}`);

  const addLine = async (quantity = 1): Promise<VendureOrder> =>
    (
      await call(
        `mutation ($id: ID!, $quantity: Int!) {
          addItemToOrder(productVariantId: $id, quantity: $quantity) { ... on Order { ${ORDER} } ${REFUSAL} }
        }`,
        { id: variantId, quantity },
      )
    ).addItemToOrder;

  /** A cart with one tea pot, an address and a way of shipping, in the state in which it can be paid. */
  const createCart = async (): Promise<VendureOrder> => {
    await addLine();
    await call(
      `mutation ($input: CreateCustomerInput!) { setCustomerForOrder(input: $input) { __typename ${REFUSAL} } }`,
      { input: { emailAddress: 'ada@shopper.example', firstName: 'Ada', lastName: 'Test' } },
    );
    await call(`mutation ($input: CreateAddressInput!) { setOrderShippingAddress(input: $input) { __typename } }`, {
      input: { fullName: 'Ada Test', streetLine1: 'Street 1', city: 'City', postalCode: '1000', countryCode: 'US' },
    });
    const { eligibleShippingMethods } = await call('{ eligibleShippingMethods { id } }');
    await call(`mutation ($id: [ID!]!) { setOrderShippingMethod(shippingMethodId: $id) { __typename ${REFUSAL} } }`, {
      id: [eligibleShippingMethods[0].id],
    });
    return moveTo('ArrangingPayment');
  };

  const moveTo = async (state: string): Promise<VendureOrder> =>
    (
      await call(
        `mutation ($state: String!) { transitionOrderToState(state: $state) { ... on Order { ${ORDER} } ${REFUSAL} } }`,
        { state },
      )
    ).transitionOrderToState;

  return {
    call,
    addLine,
    createCart,
    /** `ArrangingPayment` before a payment, `AddingItems` to change the cart again. */
    moveTo,
    pay: async (method: string, metadata: object = {}): Promise<VendureOrder | VendureRefusal> =>
      (
        await call(
          `mutation ($input: PaymentInput!) {
            addPaymentToOrder(input: $input) {
              ... on Order { ${ORDER} } ${REFUSAL}
              ... on PaymentDeclinedError { paymentErrorMessage }
              ... on PaymentFailedError { paymentErrorMessage }
            }
          }`,
          { input: { method, metadata } },
        )
      ).addPaymentToOrder,
    /** The cart, or null once it is an order. */
    cart: async (): Promise<VendureOrder | null> => (await call(`{ activeOrder { ${ORDER} } }`)).activeOrder,
    order: async (code: string): Promise<VendureOrder> =>
      (await call(`query ($code: String!) { orderByCode(code: $code) { ${ORDER} } }`, { code })).orderByCode,
    paymentMethods: async (): Promise<{ code: string; isEligible: boolean; eligibilityMessage: string | null }[]> =>
      (await call('{ eligiblePaymentMethods { code isEligible eligibilityMessage } }')).eligiblePaymentMethods,
  };
};

/** What the staff does in Vendure's dashboard. */
const staffOf = async (shop: RunningShop) => {
  const call = session(() => `${shop.baseUrl}/admin-api`);
  await call(
    'mutation ($username: String!, $password: String!) { login(username: $username, password: $password) { __typename } }',
    STAFF,
  );
  return {
    call,
    order: async (id: string): Promise<VendureOrder> =>
      (await call(`query ($id: ID!) { order(id: $id) { ${ORDER} } }`, { id })).order,
    /** All orders and carts of the shop. */
    orders: async (): Promise<VendureOrder[]> => (await call(`{ orders { items { ${ORDER} } } }`)).orders.items,
    settle: async (paymentId: string): Promise<{ state: string } | VendureRefusal> =>
      (
        await call(`mutation ($id: ID!) { settlePayment(id: $id) { ... on Payment { state } ${REFUSAL} } }`, {
          id: paymentId,
        })
      ).settlePayment,
    refund: async (
      paymentId: string,
      amount: number,
      reason?: string,
    ): Promise<{ id: string; state: string; total: number } | VendureRefusal> =>
      (
        await call(
          `mutation ($input: RefundOrderInput!) { refundOrder(input: $input) { ... on Refund { id state total } ${REFUSAL} } }`,
          { input: { paymentId, amount, reason, lines: [], shipping: 0, adjustment: 0 } },
        )
      ).refundOrder,
    cancelPayment: async (paymentId: string): Promise<{ state: string } | VendureRefusal> =>
      (
        await call(`mutation ($id: ID!) { cancelPayment(id: $id) { ... on Payment { state } ${REFUSAL} } }`, {
          id: paymentId,
        })
      ).cancelPayment,
    cancelOrder: async (orderId: string) =>
      (
        await call(
          `mutation ($input: CancelOrderInput!) { cancelOrder(input: $input) { ... on Order { state } ${REFUSAL} } }`,
          { input: { orderId } },
        )
      ).cancelOrder,
    /** Adds a payment method, as the staff does it under "Settings". `args` are the arguments of its handler. */
    offer: async (code: string, handler: string, args: Record<string, string> = {}) =>
      void (await call('mutation ($input: CreatePaymentMethodInput!) { createPaymentMethod(input: $input) { id } }', {
        input: {
          code,
          enabled: true,
          handler: {
            code: handler,
            arguments: Object.entries(args).map(([name, value]) => ({ name, value })),
          },
          translations: [{ languageCode: 'en', name: code, description: '' }],
        },
      })),
    /** The notes and changes of an order, as the dashboard lists them. */
    history: async (id: string): Promise<{ type: string; isPublic: boolean; data: Record<string, unknown> }[]> =>
      (await call(`query ($id: ID!) { order(id: $id) { history { items { type isPublic data } } } }`, { id })).order
        .history.items,
  };
};
