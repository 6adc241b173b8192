import { exampleOf, HistoryEntry, type Order, type RecordedEntry } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderOf, ordersResponse, paymentOf, projectOrder, projectPayment } from '../../testing/jest-resources.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

/** What only the recorded form has. */
const SEAL = { hash_version: 2, salt: 'c2FsdA' };

let gateway: TestGateway;
let reader: TestMerchant;
let order: Order;

beforeAll(async () => {
  gateway = await startGateway();
  reader = await gateway.merchant();
  order = orderOf(`ord_${newUlid()}`, reader.id, { created_at: '2026-01-31T12:00:00.000Z' });
  await projectOrder(gateway.pool, order);
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.orders.calls.length = 0;
  gateway.orders.respond = ordersResponse;
});

test('the history and past states of an order are visible to its merchant only', async () => {
  const { id } = order;
  const other = await gateway.merchant();
  for (const path of [`/v1/orders/${id}/history`, `/v1/orders/${id}?at=2026-01-31T12:00:00Z`]) {
    expect((await other.send('GET', path)).status).toBe(404);
    expect(gateway.orders.calls).toEqual([]);
  }
});

test('merges the histories of orders and payments up to the position that both have reached', async () => {
  const { order_id: _, ...entryOfApi } = exampleOf(HistoryEntry);
  const entry = (n: number) => ({
    ...entryOfApi,
    stream: `order-${order.id}`,
    type: 'OrderGifted', // of a newer version: shown without data
    data: {},
    sequence: n,
  });
  const shown = (n: number) => ({ ...entry(n), order_id: order.id });
  const page = (positions: number[], more: boolean) => ({
    status: 200,
    body: { messages: positions.map((n) => ({ place: `p ${n}`, message: { ...entry(n), ...SEAL } })), more },
  });
  gateway.orders.respond = () => page([1, 4], true);
  gateway.payments.respond = () => page([2, 3, 5], false);
  const { body } = await reader.send('GET', `/v1/orders/${order.id}/history`);
  expect(body.items).toEqual([1, 2, 3, 4].map(shown));

  const short = await reader.send('GET', `/v1/orders/${order.id}/history?limit=2`);
  expect(short.body).toEqual({ items: [1, 2].map(shown), next_cursor: expect.any(String) });
  await reader.send('GET', `/v1/orders/${order.id}/history?cursor=${short.body.next_cursor}`);
  expect(new URL(gateway.orders.calls.at(-1)!.path, 'http://x').searchParams.get('after')).toBe('p 2');

  gateway.orders.respond = gateway.payments.respond = () => page([], false);
  const last = await reader.send('GET', `/v1/orders/${order.id}/history?cursor=${body.next_cursor}`);
  expect(last.body).toEqual({ items: [] });
  for (const { calls } of [gateway.orders, gateway.payments])
    expect(new URL(calls.at(-1)!.path, 'http://x').searchParams.get('after')).toBe('p 4');
});

test('shows the events in the form of the API, each amount in the currency of its payment', async () => {
  // An order lists only so many payments: this one it does not list.
  const unlistedPayment = `pay_${newUlid()}`;
  const payment = { order_id: order.id, currency: 'BTC', paid_amount: '0.00000001' } as const;
  await projectPayment(gateway.pool, paymentOf(unlistedPayment, reader.id, payment));
  const { order_id: _, ...entryOfApi } = exampleOf(HistoryEntry);
  const at = entryOfApi.at;
  const page = (stream: string, type: string, data: object) => ({
    status: 200,
    body: {
      messages: [{ place: stream, message: { ...entryOfApi, ...SEAL, stream, type, data: { at, ...data } } }],
      more: false,
    },
  });
  const instruction = {
    rail: 'crypto_deposit',
    currency: order.currency,
    network: 'n',
    chainId: 'c',
    asset: 'a',
    address: 'b',
    decimals: 6,
    currencyDecimals: 6,
    requiredConfirmations: 1,
    derivation: { fingerprint: 'ff', path: '0/7' },
  };
  const transition = { status: 'awaiting_payment', reason: 'instructions_ready' };
  gateway.orders.respond = () =>
    page(`order-${order.id}`, 'OrderInstructed', { instructions: [instruction], ...transition });
  gateway.payments.respond = () =>
    page(`payment-${unlistedPayment}`, 'PaymentApplied', { orderId: order.id, appliedMinor: '1', unappliedMinor: '0' });
  const { body } = await reader.send('GET', `/v1/orders/${order.id}/history`);
  const items = (body.items as RecordedEntry[]).map((item) => HistoryEntry.parse(item));
  expect(items).toEqual(body.items);
  expect(items[0]!.data).toEqual({
    deposit_instructions: [
      {
        rail: 'crypto_deposit',
        currency: order.currency,
        network: 'n',
        chain_id: 'c',
        asset: 'a',
        address: 'b',
        decimals: 6,
        required_confirmations: 1,
      },
    ],
    status: 'awaiting_payment',
    status_reason: 'instructions_ready',
  });
  expect(items[1]!.data).toEqual({
    order_id: order.id,
    applied_amount: '0.00000001',
    unapplied_amount: '0.00000000',
  });
});

// Empty, not base64url, padded, not printable, too long.
test.each(['', '%00', 'cCA0=', 'AAAA', 'x'.repeat(129)])('refuses the history cursor %j', async (cursor) => {
  const { status, body } = await reader.send('GET', `/v1/orders/${order.id}/history?cursor=${cursor}`);
  expect([status, body.details?.[0]?.path]).toEqual([400, 'cursor']);
});

test.each([
  ['0000-01-01T00:00:00+12:00', '1970-01-01T00:00:00.000Z'],
  ['2026-01-31T12:00:00.1234+02:00', '2026-01-31T10:00:00.123Z'],
  ['9999-12-31T23:59:59-12:00', '9999-12-31T23:59:59.999Z'],
])('the state at %s is requested for %s: UTC, whole milliseconds, years 1970 to 9999', async (at, asked) => {
  const past = { ...order, status: 'awaiting_payment' as const };
  gateway.orders.respond = () => ({ status: 200, body: past });
  const { body } = await reader.send('GET', `/v1/orders/${order.id}?at=${encodeURIComponent(at)}`);
  expect(body).toEqual(past);
  expect(new URL(gateway.orders.calls[0]!.path, 'http://x').searchParams.get('at')).toBe(asked);
});

test('an order that did not exist at that time is 404 with a message', async () => {
  gateway.orders.respond = () => errorResponse(404, 'not_found');
  const { status, body } = await reader.send('GET', `/v1/orders/${order.id}?at=2020-01-01T00:00:00Z`);
  expect([status, body.message]).toEqual([404, 'the order did not exist at this time']);
});
