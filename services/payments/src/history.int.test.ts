import { type PaymentHistory, RecordedHistory } from '@cpg/contracts';
import { newId } from '@cpg/runtime';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { paymentMessages } from './messages.ts';
import { applied, MERCHANT, money, type PaymentsService, startPayments } from './testing/jest-payments.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(() => payments.stop());

const past = async (orderId: string, range: object = {}) => {
  const query = new URLSearchParams({ from: '2020-01-01T00:00:00.000Z', to: '2999-01-01T00:00:00.000Z', ...range });
  const { status, body } = await payments.call('GET', `/orders/${orderId}/messages?${query}`);
  expect(status).toBe(200);
  return body as PaymentHistory;
};
/** What the relay tells of a payment. */
const relayed = async (paymentId: string) => {
  const messageOf = paymentMessages(payments.client);
  const messages: unknown[] = [];
  for await (const resolved of payments.client.readStream(`payment-${paymentId}`))
    messages.push(await messageOf(resolved as unknown as AllStreamResolvedEvent));
  return messages;
};
const refund = (id: string, amount: string) =>
  payments.call('POST', `/payments/${id}/refunds`, { merchant_id: MERCHANT, refund_id: newId('refund'), amount });

test('what happened to the payments of an order is told byte by byte as the topic tells it, and nothing of another order', async () => {
  const orderId = payments.orderThat(applied);
  const [one, other] = [
    (await payments.register(money(orderId))).payment,
    (await payments.register(money(orderId))).payment,
  ];
  await payments.register(money(payments.orderThat(applied)));
  await refund(one.id, '4');
  const { messages, more } = await past(orderId);
  expect(more).toBe(false);
  for (const id of [one.id, other.id]) {
    const told = messages.filter(({ message }) => message.subject === id).map(({ message }) => message);
    expect(told.map((message) => JSON.stringify(message))).toEqual((await relayed(id)).map((m) => JSON.stringify(m)));
  }
  expect(new Set(messages.map(({ message }) => message.subject))).toEqual(new Set([one.id, other.id]));
  expect(messages.map(({ place }) => place)).toEqual(messages.map(({ place }) => place).sort());
  expect((await past(orderId, { after: messages[1]!.place })).messages).toEqual(messages.slice(2));
});

test('many payments are told page by page, each event once', async () => {
  const orderId = payments.orderThat(applied);
  const ids: string[] = [];
  for (let n = 0; n < 40; n += 1) ids.push((await payments.register(money(orderId))).payment.id);
  const told: { id: string; subject: string }[] = [];
  for (let after = ''; ;) {
    const { messages, more } = await past(orderId, { after });
    expect(messages.length).toBeLessThanOrEqual(50);
    told.push(...messages.map(({ message }) => message));
    if (!more) break;
    after = messages.at(-1)!.place;
  }
  expect(told).toHaveLength(80);
  expect(new Set(told.map(({ id }) => id)).size).toBe(80);
  expect(new Set(told.map(({ subject }) => subject))).toEqual(new Set(ids));
});

test('what is recorded of the payments of an order is told, by when it happened', async () => {
  const orderId = payments.orderThat(applied);
  const { payment } = await payments.register(money(orderId));
  const query = new URLSearchParams({ from: '2020-01-01T00:00:00.000Z', to: '2999-01-01T00:00:00.000Z' });
  const { status, body } = await payments.call('GET', `/orders/${orderId}/history?${query}`);
  expect(status).toBe(200);
  const entries = RecordedHistory.parse(body).messages.map(({ message }) => message);
  expect(entries.map(({ type, stream, sequence }) => [type, stream, sequence])).toEqual([
    ['PaymentReceived', `payment-${payment.id}`, 0],
    ['PaymentApplied', `payment-${payment.id}`, 1],
  ]);
  expect(entries[1]!.previous_hash).toBe(entries[0]!.hash);
});

test('of a deleted order nothing is told', async () => {
  const orderId = payments.orderThat(applied);
  await payments.register(money(orderId));
  await payments.forget(orderId);
  expect(await past(orderId)).toEqual({ messages: [], more: false });
});
