import { type OrderMessage, PaymentEvent, type PaymentMessage, TOPICS } from '@cpg/contracts';
import { startKafka } from '@cpg/embedded-kafka';
import { readStream } from '@cpg/event-store';
import { consume, createKafka, createPublisher, ensureTopics, type Publisher } from '@cpg/kafka';
import { isTransientDatabaseError, testDatabase } from '@cpg/postgres';
import { newId } from '@cpg/runtime';
import { startRelay } from '@cpg/stream-relay';
import { paymentMessages } from '../messages.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import {
  applied,
  DECIDED_AT,
  held,
  MERCHANT,
  money,
  type PaymentsService,
  startPayments,
  until,
} from '../testing/jest-payments.ts';
import { reactToOrders } from './orders.ts';

let payments: PaymentsService;
let publisher: Publisher;
const heard: PaymentMessage[] = [];
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  payments = await startPayments();
  const { client, commands, forget, follower, log } = payments;
  const database = await testDatabase();
  const server = await startKafka({ databaseUrl: database.url, port: 0 });
  const kafka = createKafka({ KAFKA_BROKERS: [server.brokers] }, { clientId: 'payments-test', log });
  await ensureTopics(kafka, [TOPICS.orders.name, TOPICS.payments.name], { partitions: 4, replication: 1 });
  // What orders would publish.
  publisher = createPublisher(kafka, { transactionalId: 'orders.relay' });
  await publisher.open();
  const own = createPublisher(kafka, { transactionalId: 'payments.relay' });
  const parts = [
    startRelay({
      ...follower,
      schema: 'payments',
      prefixes: [paymentStreamOf('')],
      publisher: own,
      topic: TOPICS.payments.name,
      messageOf: paymentMessages(client),
    }),
    consume({
      kafka,
      groupId: 'payments',
      topics: [TOPICS.orders],
      handle: reactToOrders({ commands, forget }),
      isTransientError: isTransientDatabaseError,
      log,
    }),
    consume({
      kafka,
      groupId: 'listener',
      topics: [TOPICS.payments],
      handle: async (messages) => void heard.push(...messages),
      isTransientError: () => true,
      log,
    }),
  ];
  closing.push(
    () => Promise.all(parts.map((part) => part.stop())),
    () => Promise.all([publisher.close(), own.close()]),
    () => server.stop(),
    () => payments.stop(),
    () => database.drop(),
  );
});

afterAll(async () => {
  for (const close of closing) await close();
});

const message = (orderId: string, type: OrderMessage['type'], change: object): OrderMessage =>
  ({
    specversion: '1.0',
    id: newId('event'),
    source: '/orders',
    type,
    subject: orderId,
    time: DECIDED_AT,
    datacontenttype: 'application/json',
    dataschema: `/schemas/${type}.v1.json`,
    sequence: '3',
    correlationid: 'req_test',
    causationid: 'req_test',
    merchantid: MERCHANT,
    orderid: orderId,
    data: { change, resource: type === 'order.deleted' ? null : sampleOrder(orderId) },
  }) as OrderMessage;
const sampleOrder = (id: string) => ({
  id,
  external_reference_id: 'cart-1',
  merchant_id: MERCHANT,
  items: [],
  payments: [],
  status: 'paid',
  total_amount: '10.000000',
  remaining_amount: '0.000000',
  currency: 'USDC',
  rates: {},
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
  deposit_instructions: [],
});
const at = DECIDED_AT;

test('every event of a payment is published once it is durable, in order, with the payment after it', async () => {
  const { payment } = await payments.register(money(payments.orderThat(applied)));
  const [first, second] = await until(() => {
    const mine = heard.filter(({ subject }) => subject === payment.id);
    return mine.length === 2 && mine;
  });
  expect(first).toMatchObject({
    type: 'payment.received',
    source: '/payments',
    sequence: '0',
    orderid: payment.order_id,
    merchantid: MERCHANT,
    dataschema: '/schemas/payment.received.v1.json',
    correlationid: 'req_test',
    data: { change: { amountMinor: '10000000' }, resource: { status: 'received' } },
  });
  expect(second).toMatchObject({ type: 'payment.applied', sequence: '1', data: { resource: payment } });
});

test("what an order decided is recorded at the order's time, caused by the order's event", async () => {
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => payments.register(money(payments.orderThat(held)))));
  const ids = [one, two, three].map((registered) => registered!.payment.id) as [string, string, string];
  const events = [
    message(one!.payment.order_id, 'order.payments_applied', {
      allocations: [{ paymentId: ids[0], appliedMinor: '10000000', unappliedMinor: '0' }],
      status: 'paid',
      reason: 'payment_settled',
      at,
    }),
    message(two!.payment.order_id, 'order.expired', {
      orphanedPaymentIds: [ids[1]],
      status: 'expired',
      reason: 'deadline_passed',
      at,
    }),
    message(three!.payment.order_id, 'order.canceled', {
      orphanedPaymentIds: [ids[2]],
      status: 'canceled',
      reason: 'canceled_by_merchant',
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
  ]);
  const recorded = await readStream(payments.client, paymentStreamOf(ids[0]), PaymentEvent);
  expect(recorded!.at(-1)!.metadata).toMatchObject({
    actor: 'service:payments',
    $causationId: events[0]!.id,
    $correlationId: 'req_test',
  });
  expect(recorded).toHaveLength(2);
});

test('the payments of a deleted order are forgotten, and later ones published', async () => {
  const { payment } = await payments.register(money(payments.orderThat(applied)));
  const change = {
    orderId: payment.order_id,
    merchantId: MERCHANT,
    actor: 'key:test',
    lastHash: '',
    sequence: 3,
    at,
  };
  await publisher.send(TOPICS.orders.name, [message(payment.order_id, 'order.deleted', change)]);
  expect(
    await until(async () => (await payments.rowOf(payment.id)).deleted && payments.rowOf(payment.id)),
  ).toMatchObject({
    resource: null,
  });
  const later = (await payments.register(money(payments.orderThat(applied)))).payment.id;
  expect(await until(() => heard.find(({ subject }) => subject === later))).toMatchObject({ type: 'payment.received' });
});
