import { PAYMENT_STREAM_PREFIX, PaymentEvent, type PaymentMessage, TOPICS } from '@cpg/contracts';
import { startKafka } from '@cpg/embedded-kafka';
import { readStream, startRelay } from '@cpg/event-sourcing';
import { consume, createKafka, createPublisher, ensureTopics, type Publisher } from '@cpg/platform/kafka';
import { isTransientDatabaseError } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { paymentMessages } from '../messages.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import { applied, DECIDED_AT, held, MERCHANT, report, until } from '../testing/jest-fixtures.ts';
import { orderMessage } from '../testing/jest-order-messages.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { reactToOrders } from './order-decisions.ts';

let payments: PaymentsService;
let publisher: Publisher;
const published: PaymentMessage[] = [];
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  payments = await startPayments();
  const { client, commands, deletePayments, subscription, log } = payments;
  const database = await testDatabase();
  const server = await startKafka({ databaseUrl: database.url, port: 0 });
  const kafka = createKafka({ KAFKA_BROKERS: [server.brokers] }, { clientId: 'payments-test', log });
  await ensureTopics(kafka, [TOPICS.orders.name, TOPICS.payments.name], { partitions: 4, replication: 1 });
  // Publishes in place of the orders service.
  publisher = createPublisher(kafka, { transactionalId: 'orders.relay' });
  await publisher.open();
  const paymentsPublisher = createPublisher(kafka, { transactionalId: 'payments.relay' });
  const parts = [
    startRelay({
      ...subscription,
      schema: 'payments',
      prefixes: [PAYMENT_STREAM_PREFIX],
      publisherFor: () => paymentsPublisher,
      topic: TOPICS.payments.name,
      messageOf: paymentMessages(client),
    }),
    consume({
      kafka,
      groupId: 'payments',
      topics: [TOPICS.orders],
      handle: reactToOrders({ commands, deletePayments, recordOrderRefund: async () => {} }),
      isTransientError: isTransientDatabaseError,
      log,
    }),
    consume({
      kafka,
      groupId: 'listener',
      topics: [TOPICS.payments],
      handle: async (messages) => void published.push(...messages),
      isTransientError: () => true,
      log,
    }),
  ];
  closing.push(
    () => Promise.all(parts.map((part) => part.stop())),
    () => Promise.all([publisher.close(), paymentsPublisher.close()]),
    () => server.stop(),
    () => payments.stop(),
    () => database.drop(),
  );
});

afterAll(async () => {
  for (const close of closing) await close();
});

const at = DECIDED_AT;

test('publishes every event of a payment in order, with the payment after it', async () => {
  const { payment } = await payments.register(report(payments.addOrder(applied)));
  const [first, second] = await until(() => {
    const mine = published.filter(({ subject }) => subject === payment.id);
    return mine.length === 2 && mine;
  });
  expect(first).toMatchObject({
    type: 'payment.received',
    source: '/payments',
    sequence: '0',
    orderid: payment.order_id,
    merchantid: MERCHANT,
    dataschema: 'urn:cpg:schemas:payment.received.v1',
    correlationid: 'req_test',
    data: { change: { amountMinor: '10000000' }, resource: { status: 'received' } },
  });
  expect(second).toMatchObject({ type: 'payment.applied', sequence: '1', data: { resource: payment } });
});

test("records an order's decision with the order's time and event as its cause", async () => {
  const [one, two, three, four] = await Promise.all(
    [1, 2, 3, 4].map(() => payments.register(report(payments.addOrder(held)))),
  );
  const ids = [one, two, three, four].map((registered) => registered!.payment.id) as [string, string, string, string];
  const events = [
    orderMessage(one!.payment.order_id, 'order.payments_applied', {
      allocations: [{ paymentId: ids[0], appliedMinor: '10000000', unappliedMinor: '0' }],
      status: 'paid',
      reason: 'payment_settled',
      at,
    }),
    orderMessage(two!.payment.order_id, 'order.expired', {
      orphanedPaymentIds: [ids[1]],
      status: 'expired',
      reason: 'deadline_passed',
      at,
    }),
    orderMessage(three!.payment.order_id, 'order.canceled', {
      orphanedPaymentIds: [ids[2]],
      status: 'canceled',
      reason: 'canceled_by_merchant',
      at,
    }),
    orderMessage(four!.payment.order_id, 'order.expired', {
      orphanedPaymentIds: [ids[3]],
      orphanReasons: { [ids[3]]: 'insufficient' },
      status: 'expired',
      reason: 'deadline_passed',
      at,
    }),
  ];
  await publisher.send(TOPICS.orders.name, [...events, ...events]);
  const rows = await until(async () => {
    const found = await Promise.all(ids.map(payments.rowOf));
    return found.every(({ status }) => status !== 'received') && found;
  });
  expect(rows.map(({ resource }) => [resource.status, resource.orphan_reason, resource.updated_at])).toEqual([
    ['applied', undefined, DECIDED_AT],
    ['orphan', 'late', DECIDED_AT],
    ['orphan', 'canceled', DECIDED_AT],
    ['orphan', 'insufficient', DECIDED_AT],
  ]);
  const recorded = await readStream(payments.client, paymentStreamOf(ids[0]), PaymentEvent);
  expect(recorded!.at(-1)!.metadata).toMatchObject({
    actor: 'service:payments',
    $causationId: events[0]!.id,
    $correlationId: 'req_test',
  });
  expect(recorded).toHaveLength(2);
});

test('deletes the payments of a deleted order and keeps publishing others', async () => {
  const { payment } = await payments.register(report(payments.addOrder(applied)));
  const change = {
    orderId: payment.order_id,
    merchantId: MERCHANT,
    actor: 'key:test',
    lastHash: '',
    paymentIds: [payment.id],
    sequence: 3,
    payables: [],
    at,
  };
  await publisher.send(TOPICS.orders.name, [orderMessage(payment.order_id, 'order.deleted', change)]);
  expect(
    await until(async () => (await payments.rowOf(payment.id)).deleted && payments.rowOf(payment.id)),
  ).toMatchObject({
    resource: null,
  });
  const later = (await payments.register(report(payments.addOrder(applied)))).payment.id;
  expect(await until(() => published.find(({ subject }) => subject === later))).toMatchObject({
    type: 'payment.received',
  });
});
