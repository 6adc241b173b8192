import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { decimalsIn, type Order, type Payment, toMinor } from '@cpg/contracts';
import { EventStoreDBClient } from '@eventstore/db-client';
import { type Answer, refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { ledgerFromApi, ledgerFromEvents, readOrderStream } from './harness/order-stream.ts';
import { sharedStack } from './harness/stack-files.ts';
import { until } from './harness/until.ts';

const AT_ONCE = 50;

const stack = sharedStack();
const store = EventStoreDBClient.connectionString(stack.eventstoreUrl);
let shop: Shop;

beforeAll(async () => {
  shop = await openShop(stack);
});
afterAll(() => Promise.all([shop.api.close(), store.dispose()]));

const newHash = () => `0x${randomUUID().replaceAll('-', '')}`;
const pay = ({ id }: Order, amount: string, txHash = newHash()) =>
  shop.api.send('POST', '/debug/register-payment', {
    body: { order_id: id, payment_rail: 'crypto_deposit', amount, currency: 'USDT', txHash },
  });
const post = (path: string, body?: unknown) => shop.api.send('POST', path, { body });

/** Sends each request `AT_ONCE / requests.length` times, interleaved and concurrently. Resolves with the answers of
 *  each request. */
const race = async (...requests: (() => Promise<Answer>)[]): Promise<Answer[][]> => {
  const sent = Array.from({ length: AT_ONCE }, (_, index) => answered(requests[index % requests.length]!));
  const answers = await Promise.all(sent);
  return requests.map((_, which) => answers.filter((__, index) => index % requests.length === which));
};

/** Repeats a request as clients do: a busy machine may be overloaded, or answer too late. */
const answered = async (request: () => Promise<Answer>): Promise<Answer> => {
  for (;;) {
    const answer = await request();
    if (answer.status !== 503) return answer;
    expect(['overloaded', 'outcome_unknown']).toContain(refusalOf(answer).code);
    await sleep(100);
  }
};

/** Counts the answers by `201`, or by status and code of a refusal. */
const tally = (answers: Answer[]): Record<string, number> => {
  const kinds = answers.map((answer) => (answer.status === 201 ? '201' : `${answer.status} ${refusalOf(answer).code}`));
  return Object.fromEntries([...new Set(kinds)].map((kind) => [kind, kinds.filter((each) => each === kind).length]));
};

/** Resolves with the order after checking it against its events and against each of its payments. */
const consistentOrder = async ({ id }: Order): Promise<Order> => {
  const order = await shop.api.order(id);
  const stored = (await readOrderStream(store, id))!;
  expect(ledgerFromEvents(stored.map(({ event }) => event))).toEqual(ledgerFromApi(order));
  for (const payment of order.payments) {
    await until(`${payment.id} to match its order`, async () =>
      isDeepStrictEqual(await shop.api.payment(payment.id), payment),
    );
  }
  return order;
};

const paid = sumOf((payment) => payment.paid_amount);
const applied = sumOf((payment) => payment.applied_amount);

function sumOf(amount: (payment: Payment) => string | undefined) {
  return ({ payments, total_amount }: Order): bigint =>
    payments.reduce((sum, payment) => sum + toMinor(amount(payment) ?? '0', decimalsIn(total_amount)), 0n);
}

const count = ({ payments }: Order, status: Payment['status'], reason?: Payment['orphan_reason']): number =>
  payments.filter((payment) => payment.status === status && payment.orphan_reason === reason).length;

test('50 concurrent reports of one hash create one payment', async () => {
  const order = await shop.api.createOrder(orderBody());
  const txHash = newHash();
  const [answers] = await race(() => pay(order, '4', txHash));
  expect(tally(answers!)).toEqual({ 201: AT_ONCE });
  const after = await consistentOrder(order);
  expect(after).toMatchObject({ status: 'partially_paid', remaining_amount: '6.000000', payments: [{}] });
  expect(applied(after)).toBe(4_000_000n);
});

test('of 50 concurrent payments, those that settle the order are applied and the others orphaned', async () => {
  const order = await shop.api.createOrder(orderBody());
  const [answers] = await race(() => pay(order, '1'));
  expect(tally(answers!)).toEqual({ 201: AT_ONCE });
  const after = await consistentOrder(order);
  expect(after).toMatchObject({ status: 'paid', remaining_amount: '0.000000' });
  expect([count(after, 'applied'), count(after, 'orphan', 'already_paid')]).toEqual([10, AT_ONCE - 10]);
  expect([paid(after), applied(after)]).toEqual([50_000_000n, 10_000_000n]);
});

test('when a settling payment and a cancellation race, only the first one takes effect', async () => {
  const order = await shop.api.createOrder(orderBody());
  const [payments, cancellations] = await race(
    () => pay(order, '10'),
    () => post(`/v1/orders/${order.id}/cancel`),
  );
  expect(tally(payments!)).toEqual({ 201: AT_ONCE / 2 });
  const after = await consistentOrder(order);
  expect(paid(after)).toBe(250_000_000n);
  if (after.status === 'canceled') {
    expect(tally(cancellations!)).toEqual({ 201: AT_ONCE / 2 });
    expect(count(after, 'orphan', 'canceled')).toBe(AT_ONCE / 2);
  } else {
    expect(after.status).toBe('paid');
    expect(tally(cancellations!)).toEqual({ '409 order_state_conflict': AT_ONCE / 2 });
    expect([count(after, 'applied'), count(after, 'orphan', 'already_paid')]).toEqual([1, AT_ONCE / 2 - 1]);
  }
});

test('partial payments that race with a cancellation are all orphaned', async () => {
  const order = await shop.api.createOrder(orderBody());
  const [payments, cancellations] = await race(
    () => pay(order, '0.1'),
    () => post(`/v1/orders/${order.id}/cancel`),
  );
  expect([tally(payments!), tally(cancellations!)]).toEqual([{ 201: AT_ONCE / 2 }, { 201: AT_ONCE / 2 }]);
  const after = await consistentOrder(order);
  expect(after).toMatchObject({ status: 'canceled', remaining_amount: '10.000000' });
  expect(count(after, 'orphan', 'canceled')).toBe(AT_ONCE / 2);
});

test('a capture that races with the expiry applies the held payment once', async () => {
  const order = await shop.api.createOrder(orderBody({ capabilities: { partial_payments: false } }));
  expect((await pay(order, '4')).body.payments).toMatchObject([{ status: 'received' }]);
  const [captures, clocks] = await race(
    () => post(`/v1/orders/${order.id}/capture`),
    () => post(`/debug/orders/${order.id}/advance-time`, { minutes: 61 }),
  );
  expect(tally(captures!)).toEqual({ 201: AT_ONCE / 2 });
  // All requests may be handled before the order expires.
  const { '201': moved, '409 order_state_conflict': tooLate = 0, ...others } = tally(clocks!);
  expect(moved).toBeGreaterThanOrEqual(1);
  expect([moved! + tooLate, others]).toEqual([AT_ONCE / 2, {}]);
  const after = await consistentOrder(order);
  expect(after).toMatchObject({ status: 'partially_paid_expired', remaining_amount: '6.000000' });
  expect([count(after, 'applied'), applied(after)]).toEqual([1, 4_000_000n]);
});

test('50 concurrent creations with one idempotency key create one order', async () => {
  const key = randomUUID();
  const body = orderBody({ external_reference_id: key });
  const create = () => shop.api.send('POST', '/v1/orders', { body, headers: { 'idempotency-key': key } });
  const [answers] = await race(create);
  expect(tally(answers!)).toEqual({ 201: AT_ONCE });
  const { items, total } = await shop.api.orders({ external_reference_id: key });
  expect(total).toBe(1);
  expect(await consistentOrder(items[0]!)).toEqual(items[0]);
  const again = await create();
  for (const { text } of answers!) expect(text).toBe(again.text);
});
