import { newUlid } from '@cpg/platform';
import { type OrdersService, startOrders } from '../../orders/src/testing/jest-orders.ts';
import { capabilities, paymentId } from '../../orders/src/testing/orders.ts';
import { startGateway, type TestGateway, type TestMerchant } from './testing/jest-gateway.ts';
import { type Method, send, type TestResponse } from './testing/jest-send.ts';

// Mistakes of new users, and the messages that have to say what to change. Read each message without the code.

let orders: OrdersService;
let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  [orders, gateway] = await Promise.all([startOrders(), startGateway()]);
  gateway.orders.respond = async ({ method, path, body, headers }) => {
    const call = await orders.call(method as 'POST', path, body, { 'x-request-id': headers['x-request-id'] });
    return { status: call.status, body: call.body };
  };
  shop = await gateway.merchant();
});
afterAll(() => Promise.all([gateway.close(), orders.stop()]));

const line = { name: 'Dinner', quantity: 1, unit_price: '850.00', currency: 'MXN' };
const BODY = {
  external_reference_id: 'cart-1002',
  items: [line],
  enable_rails: ['gateway_pay'],
  payment_currency: 'USDC',
  capabilities,
};

const create = (changes: object) => shop.send('POST', '/v1/orders', { ...BODY, ...changes });
const createWith = (changes: object) => create({ items: [{ ...line, ...changes }] });

let payments = 0;

/** An order with these capabilities, after payments of these minor units of USDC. 850.00 MXN cost 46.325 USDC. */
const orderWith = async (allow: object, ...amounts: bigint[]): Promise<string> => {
  const { body } = await create({ capabilities: { ...capabilities, ...allow } });
  for (const amount of amounts) await orders.offer(body.id, (payments += 1), amount);
  return body.id;
};

const on = async (order: Promise<string>, method: Method, path = '', body?: unknown): Promise<TestResponse> =>
  shop.send(method, `/v1/orders/${await order}${path}`, body);

const canceled = async (): Promise<string> => {
  const id = await orderWith({}, 4_000_000n);
  await shop.send('POST', `/v1/orders/${id}/cancel`);
  return id;
};

/** With the ids of this run left out. */
const answerOf = ({ status, body }: TestResponse): string =>
  `${status} ${body.message}`.replace(/\b(ord|pay)_[0-9A-Z]{26}\b/g, '$1_…');

type Mistake = [mistake: string, send: () => Promise<TestResponse>, answer: string];

const PATHS: Mistake[] = [
  [
    'a slash at the end',
    () => shop.send('GET', '/v1/orders/'),
    '404 the path has no id: add the id of the order, or leave out the "/" at the end to list',
  ],
  [
    'a slash after another path',
    () => shop.send('GET', '/v1/merchants/me/'),
    '404 there is no endpoint GET /v1/merchants/me/: did you mean /v1/merchants/me?',
  ],
  ['no version', () => shop.send('GET', '/orders'), '404 there is no endpoint GET /orders: did you mean /v1/orders?'],
  [
    'another word',
    () => shop.send('GET', '/v1/order'),
    '404 there is no endpoint GET /v1/order: /docs lists all endpoints',
  ],
  [
    'the own reference as the id',
    () => shop.send('GET', '/v1/orders/cart-1002'),
    '404 no order has this id. The order may be deleted, or belong to another merchant. An id starts with "ord_".',
  ],
  [
    'the id of a payment',
    () => shop.send('GET', `/v1/orders/pay_${newUlid()}`),
    '404 no order has this id: it is the id of a payment',
  ],
  [
    'another method',
    () => shop.send('PUT', `/v1/orders/ord_${newUlid()}`, {}),
    '405 /v1/orders/ord_… allows DELETE, GET, HEAD, PATCH, not PUT',
  ],
];

const NO_DEFAULT =
  'is required, because you have no default for it: send it, or set it in `order_defaults` with PATCH /v1/merchants/me';

const BODIES: Mistake[] = [
  ['no body', () => shop.send('POST', '/v1/orders'), '400 body: is required: send a JSON object'],
  [
    'a form',
    () => shop.send('POST', '/v1/orders', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
    '415 the body is application/x-www-form-urlencoded: send JSON with the header content-type: application/json',
  ],
  [
    'a comma at the end',
    () => shop.send('POST', '/v1/orders', '{"items": [],}', {}),
    '400 body: is not valid JSON, at character 14',
  ],
  ['a list', () => shop.send('POST', '/v1/orders', []), '400 body: must be an object, not an array'],
  [
    'nothing in the body',
    () => shop.send('POST', '/v1/orders', {}),
    `400 external_reference_id: is required; items: is required; ${['enable_rails', 'payment_currency', 'capabilities'].map((field) => `${field}: ${NO_DEFAULT}`).join('; ')}`,
  ],
  [
    'no coin, and no default for it',
    () => create({ payment_currency: undefined }),
    `400 payment_currency: ${NO_DEFAULT}`,
  ],
  [
    'a name in camel case',
    () => create({ returnUrl: 'https://shop.example/thanks' }),
    '400 returnUrl: is not a known field: did you mean return_url?',
  ],
  [
    'a part of a name',
    () => create({ currency: 'USDC' }),
    '400 currency: is not a known field: did you mean payment_currency?',
  ],
];

const ORDERS: Mistake[] = [
  [
    'one rail without a list',
    () => create({ enable_rails: 'gateway_pay' }),
    '400 enable_rails: must be an array: ["gateway_pay"]',
  ],
  [
    'an unknown rail',
    () => create({ enable_rails: ['cash'] }),
    '400 enable_rails.0: must be one of "gateway_pay", "crypto_deposit"',
  ],
  [
    'a rail twice',
    () => create({ enable_rails: ['gateway_pay', 'gateway_pay'] }),
    '400 enable_rails: must not repeat a rail',
  ],
  [
    'a currency that the rail does not take',
    () => create({ payment_currency: 'BTC' }),
    '400 enable_rails.0: gateway_pay does not take BTC for you: it takes USDC',
  ],
  [
    'a currency in small letters',
    () => create({ payment_currency: 'usdc' }),
    '400 payment_currency: must be written "USDC"',
  ],
  [
    'a payment in a currency of prices',
    () => create({ payment_currency: 'MXN' }),
    '400 payment_currency: must be one of "USDT", "USDC", "USDG", "BTC", "ETH", "CAZ"',
  ],
  ['null for a field', () => create({ metadata: null }), '400 metadata: must not be null: leave it out'],
  ['text for metadata', () => create({ metadata: 'B7' }), '400 metadata: must be an object'],
  [
    'null for a capability',
    () => create({ capabilities: { ...capabilities, can_cancel: null } }),
    '400 capabilities.can_cancel: must be true or false, not null',
  ],
  [
    'a flag in quotes',
    () => create({ capabilities: { ...capabilities, can_cancel: 'true' } }),
    '400 capabilities.can_cancel: must be true or false, without quotes',
  ],
  [
    'a number in quotes',
    () => create({ expiration_minutes: '60' }),
    '400 expiration_minutes: must be a whole number, without quotes',
  ],
  ['a short deadline', () => create({ expiration_minutes: 1 }), '400 expiration_minutes: must be at least 5'],
  [
    'a page that is not https',
    () => create({ return_url: 'http://shop.example/thanks' }),
    '400 return_url: must be an https:// URL',
  ],
  ['no items', () => create({ items: [] }), '400 items: must have at least 1 item'],
  [
    'one item without a list',
    () => create({ items: line }),
    '400 items: must be an array, also for one entry: put [ ] around it',
  ],
  ['a negative quantity', () => createWith({ quantity: -1 }), '400 items.0.quantity: must be at least 0.000001'],
  ['a tiny quantity', () => createWith({ quantity: 5e-7 }), '400 items.0.quantity: must be at least 0.000001'],
  [
    'a quantity with too many decimals',
    () => createWith({ quantity: 0.1234567 }),
    '400 items.0.quantity: must have at most 6 decimals',
  ],
  ['a price without quotes', () => createWith({ unit_price: 850 }), '400 items.0.unit_price: must be a string: "850"'],
  [
    'a price with a comma',
    () => createWith({ unit_price: '1,850.00' }),
    '400 items.0.unit_price: must be a decimal string like "12.50", or "-12.50" for a discount: no exponent, commas, spaces or leading zeros, at most 18 digits before and 18 after the point',
  ],
  [
    'a price with three decimals',
    () => createWith({ unit_price: '850.125' }),
    '400 items.0.unit_price: MXN has 2 decimals, this amount has 3',
  ],
  [
    'a negative price',
    () => createWith({ unit_price: '-50.00' }),
    '400 items.0.unit_price: must not be negative: for an amount that lowers the total, give the item "kind": "discount"',
  ],
  [
    'a discount without a minus',
    () => createWith({ unit_price: '50.00', kind: 'discount' }),
    '400 items.0.unit_price: must be negative, because a discount lowers the total: "-50.00"',
  ],
  [
    'a discount of more than everything',
    () => create({ items: [line, { ...line, unit_price: '-900.00', kind: 'discount' }] }),
    '400 items: the items in MXN add up to -50.00: lower the discounts in MXN, or give them in the currency of what they lower, so that the sum is at least 0',
  ],
  [
    'a total of nothing',
    () => createWith({ unit_price: '0' }),
    '400 items: the total of the order must be more than 0: create no order where nothing is to be paid',
  ],
  [
    'a total that nobody can send',
    () =>
      create({ items: [{ ...line, unit_price: '0.01' }], enable_rails: ['crypto_deposit'], payment_currency: 'BTC' }),
    '400 items: the total is 0.00000001 BTC, and crypto_deposit takes at least 0.00001000 BTC: raise the total',
  ],
  [
    'a key with spaces',
    () => shop.send('POST', '/v1/orders', BODY, { 'idempotency-key': 'cart 1002' }),
    '400 idempotency-key: must be 1 to 255 visible ASCII characters, without spaces',
  ],
];

const COMMANDS: Mistake[] = [
  [
    'cancel an order that may not be canceled',
    () => on(orderWith({ can_cancel: false }), 'POST', '/cancel'),
    '409 the order was created with can_cancel false: let it expire',
  ],
  [
    'cancel a paid order',
    () => on(orderWith({}, 46_325_000n), 'POST', '/cancel'),
    '409 an order that is paid cannot be canceled: it takes no more payments. To give money back, refund its payments',
  ],
  [
    'capture a canceled order',
    () => on(canceled(), 'POST', '/capture'),
    '409 a canceled order takes no payments: refund those that it has',
  ],
  [
    'accept an order without money',
    () => on(orderWith({}), 'POST', '/accept', { reason: 'close enough' }),
    '409 no payment is applied to the order, so there is nothing to accept: cancel it, or let it expire',
  ],
  ['accept without a reason', () => on(orderWith({}), 'POST', '/accept', {}), '400 reason: is required'],
  [
    'delete a canceled order with money',
    () => on(canceled(), 'DELETE'),
    '409 payment pay_… is an orphan that is not refunded: refund it',
  ],
  [
    'delete an order that is paid in part',
    () => on(orderWith({}, 1_000_000n, 2_000_000n), 'DELETE'),
    '409 payment pay_… is applied to an order that is not paid: wait until the order is paid, or refund the payment. 2 payments of the order are like this',
  ],
  [
    'delete an order that holds money',
    () => on(orderWith({ partial_payments: false }, 1_000_000n), 'DELETE'),
    '409 payment pay_… is held until more money comes: capture the order, or cancel it and refund the payment',
  ],
  [
    'change an order that may not be changed',
    () => on(orderWith({ can_update: false }), 'PATCH', '', { metadata: {} }),
    '409 the order was created with can_update false: create a new order',
  ],
  [
    'change nothing',
    () => on(orderWith({}), 'PATCH', '', {}),
    '400 body: must have metadata, expiration_minutes or items',
  ],
  [
    'change the status',
    () => on(orderWith({}), 'PATCH', '', { status: 'paid' }),
    '400 status: is not a known field: the fields are metadata, expiration_minutes, items',
  ],
  [
    'move the deadline of a canceled order',
    () => on(canceled(), 'PATCH', '', { expiration_minutes: 60 }),
    '409 an order that is canceled has no deadline to change: create a new order',
  ],
];

const LISTS: Mistake[] = [
  [
    'a day that does not exist',
    () => shop.send('GET', '/v1/orders?from_date=2026-02-30'),
    '400 from_date: has a day that does not exist: 2026-02-30',
  ],
  [
    'a day without a time',
    () => shop.send('GET', '/v1/orders?from_date=2026-02-28'),
    '400 from_date: needs a time and a timezone, like 2026-02-28T00:00:00Z',
  ],
  [
    'a time without a timezone',
    () => shop.send('GET', '/v1/orders?from_date=2026-02-28T12:00:00'),
    '400 from_date: needs a timezone, like 2026-02-28T12:00:00Z for UTC',
  ],
  [
    'a + that the URL turns into a space',
    () => shop.send('GET', '/v1/orders?from_date=2026-02-28T12:00:00+01:00'),
    '400 from_date: has a space in the place of the + of its timezone: write + as %2B in a URL',
  ],
  ['a large page', () => shop.send('GET', '/v1/orders?limit=1000'), '400 limit: must be a whole number from 1 to 100'],
  [
    'a filter in the plural',
    () => shop.send('GET', '/v1/orders?statuses=paid'),
    '400 statuses: is not a known parameter: did you mean status?',
  ],
  [
    'a filter in camel case',
    () => shop.send('GET', '/v1/orders?fromDate=2026-02-28T12:00:00Z'),
    '400 fromDate: is not a known parameter: did you mean from_date?',
  ],
  [
    'a parameter of a read that has another name',
    () => shop.send('GET', `/v1/orders/ord_${newUlid()}?as_of=2026-01-31T00:00:00Z`),
    '400 as_of: is not a known parameter: the only parameter is at',
  ],
  [
    'a parameter of a read that takes none',
    () => shop.send('GET', '/v1/currencies?currency=BTC'),
    '400 currency: is not known: this request takes no parameters',
  ],
  [
    'a parameter of a deletion',
    () => shop.send('DELETE', `/v1/orders/ord_${newUlid()}?force=true`),
    '400 force: is not known: this request takes no parameters',
  ],
  [
    'the payments of a payment',
    () => shop.send('GET', `/v1/payments?order_id=pay_${newUlid()}`),
    '400 order_id: must be the id of an order: `ord_` and 26 capital letters and digits',
  ],
  [
    'the refund of an order for a refund',
    () => shop.send('GET', `/v1/refunds/orf_01KG9Q4B5C6D7E8F9G0H1J2K3N`),
    '404 no refund has this id: it is the id of a refund of an order, which `refunds` of the order shows',
  ],
];

const webhook = (changes: object) =>
  shop.send('POST', '/v1/webhooks', { url: 'https://shop.example/hook', events: ['order:paid'], ...changes });

const OTHERS: Mistake[] = [
  ['an event with a dot', () => webhook({ events: ['order.paid'] }), '400 events.0: must be written "order:paid"'],
  ['an event without a list', () => webhook({ events: 'order:paid' }), '400 events: must be an array: ["order:paid"]'],
  [
    'a webhook that is to be enabled at once',
    () => webhook({ is_enabled: true }),
    '400 is_enabled: a new webhook is disabled: leave it out, and enable the webhook with PATCH',
  ],
  ['a webhook without TLS', () => webhook({ url: 'http://shop.example/hook' }), '400 url: must be an https:// URL'],
  [
    'another URL of a webhook',
    async () => shop.send('PATCH', `/v1/webhooks/${(await webhook({})).body.id}`, { url: 'https://shop.example/2' }),
    '400 url: cannot be changed: delete the webhook and create another for the new URL',
  ],
  [
    'a negative refund',
    () => shop.send('POST', `/v1/payments/${paymentId(1)}/refund`, { amount: '-1' }),
    '400 amount: must be a decimal string like "12.50": no sign, exponent, commas, spaces or leading zeros, at most 18 digits before and 18 after the point',
  ],
  ['no key', () => send(gateway.app, 'GET', '/v1/orders'), '401 Invalid API key provided'],
];

const ALL = [...PATHS, ...BODIES, ...ORDERS, ...COMMANDS, ...LISTS, ...OTHERS];

test.each(ALL)('%s', async (_, mistake, answer) => expect(answerOf(await mistake())).toBe(answer));

test('a key without the scope is told the scope', async () => {
  const key = await shop.issue({ scopes: ['orders:self:read'] });
  const { status, body } = await shop.send('POST', '/v1/orders', BODY, { 'x-api-key': key });
  expect({ status, ...body }).toMatchObject({
    status: 403,
    code: 'insufficient_scope',
    message: 'Insufficient scope',
    required_scope: 'orders:self:create',
  });
});
