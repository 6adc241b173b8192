import { type PaymentHistory, RecordedHistory } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { paymentMessages } from './messages.ts';
import { applied, MERCHANT, report } from './testing/jest-fixtures.ts';
import { type PaymentsService, startPayments } from './testing/jest-payments.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(() => payments.stop());

const historyOf = async (orderId: string, range: object = {}) => {
  const query = new URLSearchParams({ from: '2020-01-01T00:00:00.000Z', to: '2999-01-01T00:00:00.000Z', ...range });
  const { status, body } = await payments.call('GET', `/orders/${orderId}/messages?${query}`);
  expect(status).toBe(200);
  return body as PaymentHistory;
};
/** The messages that the relay publishes for a payment. */
const relayed = async (paymentId: string) => {
  const messageOf = paymentMessages(payments.client);
  const texts: string[] = [];
  for await (const resolved of payments.client.readStream(`payment-${paymentId}`))
    texts.push(JSON.stringify(await messageOf(resolved as unknown as AllStreamResolvedEvent)));
  return texts;
};
const refund = (id: string, amount: string) =>
  payments.call('POST', `/payments/${id}/refunds`, { merchant_id: MERCHANT, refund_id: newId('refund'), amount });

test('returns the messages of an order exactly as the topic has them, and none of another order', async () => {
  const orderId = payments.addOrder(applied);
  const [one, other] = [
    (await payments.register(report(orderId))).payment,
    (await payments.register(report(orderId))).payment,
  ];
  await payments.register(report(payments.addOrder(applied)));
  await refund(one.id, '4');
  const { messages, more } = await historyOf(orderId);
  expect(more).toBe(false);
  for (const id of [one.id, other.id]) {
    const received = messages.filter(({ message }) => message.subject === id).map(({ message }) => message);
    expect(received.map((message) => JSON.stringify(message))).toEqual(await relayed(id));
  }
  expect(new Set(messages.map(({ message }) => message.subject))).toEqual(new Set([one.id, other.id]));
  expect(messages.map(({ place }) => place)).toEqual(messages.map(({ place }) => place).sort());
  expect((await historyOf(orderId, { after: messages[1]!.place })).messages).toEqual(messages.slice(2));
});

test('returns the events of many payments page by page, each once', async () => {
  const orderId = payments.addOrder(applied);
  const ids: string[] = [];
  for (let n = 0; n < 40; n += 1) ids.push((await payments.register(report(orderId))).payment.id);
  const received: { id: string; subject: string }[] = [];
  for (let after = ''; ;) {
    const { messages, more } = await historyOf(orderId, { after });
    expect(messages.length).toBeLessThanOrEqual(50);
    received.push(...messages.map(({ message }) => message));
    if (!more) break;
    after = messages.at(-1)!.place;
  }
  expect(received).toHaveLength(80);
  expect(new Set(received.map(({ id }) => id)).size).toBe(80);
  expect(new Set(received.map(({ subject }) => subject))).toEqual(new Set(ids));
});

test('returns the recorded events of an order, oldest first', async () => {
  const orderId = payments.addOrder(applied);
  const { payment } = await payments.register(report(orderId));
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

test('returns nothing for a deleted order', async () => {
  const orderId = payments.addOrder(applied);
  await payments.register(report(orderId));
  await payments.deletePayments(orderId);
  expect(await historyOf(orderId)).toEqual({ messages: [], more: false });
});
