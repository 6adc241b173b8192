import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OrderMessage, type PaymentMessage, PaymentEvent, RegisteredPayment, TOPICS } from '@cpg/contracts';
import { startEventStore } from '@cpg/embedded-eventstore';
import { startKafka } from '@cpg/embedded-kafka';
import { commandHandler, connectEventStore, readStream } from '@cpg/event-store';
import { consume, createKafka, createPublisher, ensureTopics, type Publisher } from '@cpg/kafka';
import { createPool, isDatabaseOutage, migrate, type Pool, testDatabase } from '@cpg/postgres';
import { createLogger, internalClient, newId } from '@cpg/runtime';
import { catchUp, type Follower, relay } from '@cpg/stream-relay';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { buildApp } from './app.ts';
import { ordersClient } from './clients/orders.ts';
import { paymentCommands, type PaymentCommands } from './commands.ts';
import { forgetPayments } from './deletion.ts';
import { instructionsFrom } from './instructions.ts';
import { registerPayments } from './matching.ts';
import { paymentMessages } from './messages.ts';
import { FeeSchedule } from './payment/fees.ts';
import { paymentIdOf, paymentStreamOf } from './payment/identity.ts';
import { paymentDecider } from './payment/payment.ts';
import { UNCLAIMED_MERCHANT } from './payment/state.ts';
import { paymentCatchUp } from './projections/catch-up.ts';
import { projectPayments } from './projections/payments.ts';
import { reactToOrders } from './reactions/orders.ts';
import { type Decide, startOrdersStub } from './testing/orders-stub.ts';

const TOKEN = 'a-token-that-services-share-in-tests';
const MERCHANT = newId('merchant');
const DECIDED_AT = '2026-01-31T12:00:00.000Z';
const log = createLogger({ name: 'payments', level: process.env.LOG_LEVEL ?? 'silent' });

const until = async <T>(
  look: () => Promise<T | undefined | null | false> | T | undefined | null | false,
): Promise<T> => {
  for (;;) {
    const found = await look();
    if (found) return found;
    await sleep(20);
  }
};

let stub: Awaited<ReturnType<typeof startOrdersStub>>;
let client: EventStoreDBClient;
let pool: Pool;
let publisher: Publisher;
let commands: PaymentCommands;
let app: ReturnType<typeof buildApp>;
let projection: Follower;
let startProjection: () => Follower;
const heard: PaymentMessage[] = [];
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  const databases = await Promise.all([testDatabase(), testDatabase(), testDatabase()]);
  const [database, forEvents, forKafka] = databases;
  const [eventStore, kafkaServer] = await Promise.all([
    startEventStore({ databaseUrl: forEvents.url, port: 0 }),
    startKafka({ databaseUrl: forKafka.url, port: 0 }),
  ]);
  stub = await startOrdersStub();
  client = connectEventStore(eventStore.url);
  pool = createPool({ url: database.url, name: 'payments-test', disposable: true, log });
  await migrate(pool, { schema: 'payments', folder: join(import.meta.dirname, '../migrations') });
  const http = internalClient({ name: 'orders', url: stub.url, token: TOKEN });
  const handler = commandHandler({ client, decider: paymentDecider, schema: PaymentEvent, streamOf: paymentStreamOf });
  commands = paymentCommands({ handler, project: (projected) => projectPayments(pool, [projected]) });
  const forget = forgetPayments({ client, handler, readModel: pool });
  const fees = FeeSchedule.parse(JSON.parse(readFileSync(join(import.meta.dirname, '../config/fees.json'), 'utf8')));
  app = buildApp({
    token: TOKEN,
    instructions: instructionsFrom([]),
    register: registerPayments({ commands, orders: ordersClient(http), fees, now: () => new Date(), log }),
    commands,
    forget,
    log,
    checks: {},
  });

  const kafka = createKafka({ KAFKA_BROKERS: [kafkaServer.brokers] }, { clientId: 'payments-test', log });
  await ensureTopics(kafka, [TOPICS.orders.name, TOPICS.payments.name], { partitions: 4, replication: 1 });
  publisher = createPublisher(kafka);
  const follower = {
    client,
    pool,
    databaseUrl: database.url,
    schema: 'payments',
    prefixes: [paymentStreamOf('')],
    log,
  };
  startProjection = () => catchUp({ ...follower, name: 'projection', apply: paymentCatchUp(client) });
  projection = startProjection();
  const parts = [
    relay({ ...follower, name: 'relay', publisher, topic: TOPICS.payments.name, messageOf: paymentMessages(client) }),
    consume({
      kafka,
      groupId: 'payments',
      topics: [TOPICS.orders],
      handle: reactToOrders({ commands, forget }),
      isOutage: isDatabaseOutage,
      log,
    }),
    consume({
      kafka,
      groupId: 'listener',
      topics: [TOPICS.payments],
      handle: async (messages) => void heard.push(...messages),
      isOutage: () => true,
      log,
    }),
  ];
  closing.push(
    () => app.close(),
    () => Promise.all([projection, ...parts].map((part) => part.stop())),
    () => publisher.close(),
    () => http.close(),
    () => client.dispose(),
    () => Promise.all([eventStore.stop(), kafkaServer.stop(), stub.stop()]),
    () => pool.end(),
    () => Promise.all(databases.map((each) => each.drop())),
  );
});

afterAll(async () => {
  for (const close of closing) await close();
});

const call = async (method: 'POST' | 'DELETE', url: string, payload?: object) => {
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-actor': 'key:test', 'x-request-id': 'req_test' };
  const response = await app.inject({ method, url, headers, ...(payload && { payload }) });
  return { status: response.statusCode, body: response.body === '' ? null : response.json() };
};

const applied: Decide = ({ paymentId, amountMinor }) => ({
  status: 'applied',
  payment_id: paymentId,
  applied_minor: amountMinor,
  unapplied_minor: '0',
  at: DECIDED_AT,
});
const late: Decide = ({ paymentId }) => ({
  status: 'orphan',
  payment_id: paymentId,
  orphan_reason: 'late',
  at: DECIDED_AT,
});
const held: Decide = ({ paymentId }) => ({ status: 'received', payment_id: paymentId });

const orderThat = (decide: Decide) => {
  const id = newId('order');
  stub.add(id, MERCHANT, decide);
  return id;
};

let hashes = 0;
const money = (order_id: string, changes: object = {}) => {
  hashes += 1;
  return {
    order_id,
    rail: 'gateway_pay',
    provider_id: `tx-${hashes}`,
    amount: '10',
    currency: 'USDC',
    confirmed: true,
    ...changes,
  };
};

const register = async (body: object) => {
  const { status, body: answer } = await call('POST', '/payments', body);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(answer)}`);
  return RegisteredPayment.parse(answer);
};

const typesOf = async (paymentId: string) =>
  (await readStream(client, paymentStreamOf(paymentId), PaymentEvent))?.map(({ event }) => event.type);
const rowOf = async (paymentId: string) =>
  (await pool.query('select * from payments.payments where id = $1', [paymentId])).rows[0];

test('money is recorded with its fee, applied by its order, and visible at once', async () => {
  const orderId = orderThat(applied);
  const { payment, order } = await register(money(orderId, { tx_hash: '0xf00d', metadata: { till: 3 } }));
  expect(payment).toMatchObject({
    merchant_id: MERCHANT,
    order_id: orderId,
    status: 'applied',
    paid_amount: '10.000000',
    fee_amount: '0.050000',
    net_amount: '9.950000',
    applied_amount: '10.000000',
    tx_hash: '0xf00d',
    metadata: { till: 3 },
    updated_at: DECIDED_AT,
  });
  expect(order).toMatchObject({ id: orderId, payments: [{ id: payment.id, status: 'applied' }] });
  expect(await rowOf(payment.id)).toMatchObject({
    merchant_id: MERCHANT,
    order_id: orderId,
    status: 'applied',
    currency: 'USDC',
    payment_rail: 'gateway_pay',
    revision: '1',
    deleted: false,
    resource: payment,
  });
});

test('the same money reported fifty times at once is one payment', async () => {
  const orderId = orderThat(applied);
  const body = money(orderId);
  const answers = await Promise.all(Array.from({ length: 50 }, () => register(body)));
  expect(new Set(answers.map(({ payment }) => payment.id)).size).toBe(1);
  expect(answers.map(({ payment }) => payment.status)).toEqual(Array(50).fill('applied'));
  expect(await typesOf(answers[0]!.payment.id)).toEqual(['PaymentReceived', 'PaymentApplied']);
  expect((await pool.query('select 1 from payments.payments where order_id = $1', [orderId])).rowCount).toBe(1);
});

test('the same money for another order, or of another amount, is a conflict that says what differs', async () => {
  const body = money(orderThat(applied));
  await register(body);
  const other = orderThat(applied);
  expect(await call('POST', '/payments', { ...body, order_id: other })).toMatchObject({
    status: 409,
    body: { code: 'payment_conflict', message: expect.stringContaining(`another order (${body.order_id})`) },
  });
  expect(await call('POST', '/payments', { ...body, amount: '11' })).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('another amount (10.000000)') },
  });
  expect(stub.calls).not.toContain(`POST /orders/${other}/payments`);
});

test('money that was recorded and not offered is offered when it is reported again', async () => {
  const orderId = orderThat(applied);
  const body = money(orderId);
  const id = paymentIdOf('gateway_pay', body.provider_id);
  stub.setAway(true);
  expect(await call('POST', '/payments', body)).toMatchObject({
    status: 503,
    body: { code: 'dependency_unavailable' },
  });
  stub.setAway(false);
  expect(await typesOf(id)).toEqual(['PaymentReceived']);
  expect(await rowOf(id)).toMatchObject({ status: 'received' });
  expect((await register(body)).payment).toMatchObject({ id, status: 'applied' });
  expect(await typesOf(id)).toEqual(['PaymentReceived', 'PaymentApplied']);
});

test('an outcome whose answer was lost is learnt when the money is reported again', async () => {
  let decisions = 0;
  const orderId = orderThat((payment, confirmed) => {
    decisions += 1;
    return applied(payment, confirmed);
  });
  const body = money(orderId);
  const id = paymentIdOf('gateway_pay', body.provider_id);
  stub.setLosing(true);
  expect((await call('POST', '/payments', body)).status).toBe(503);
  stub.setLosing(false);
  expect(await typesOf(id)).toEqual(['PaymentReceived']);
  expect((await register(body)).payment).toMatchObject({ id, status: 'applied', applied_amount: '10.000000' });
  expect(decisions).toBe(1);
});

test("money for an order we do not have is kept, as nobody's orphan", async () => {
  for (const orderId of [newId('order'), 'invoice 7/../x']) {
    const { payment, order } = await register(money(orderId));
    expect(order).toBeNull();
    expect(payment).toMatchObject({
      merchant_id: UNCLAIMED_MERCHANT,
      order_id: orderId,
      status: 'orphan',
      orphan_reason: 'unknown_order',
    });
    expect(await rowOf(payment.id)).toMatchObject({ status: 'orphan', resource: payment });
  }
});

test('an order that is gone by the time its money is offered leaves an orphan', async () => {
  const orderId = orderThat(applied);
  const body = money(orderId);
  stub.setAway(true);
  await call('POST', '/payments', body);
  stub.setAway(false);
  stub.remove(orderId);
  const { payment } = await register(body);
  expect(payment).toMatchObject({ merchant_id: MERCHANT, status: 'orphan', orphan_reason: 'unknown_order' });
});

test('what is not confirmed waits, and is told to its order again once it is', async () => {
  const orderId = orderThat(held);
  const body = money(orderId, { confirmed: false });
  expect((await register(body)).payment).toMatchObject({ status: 'received' });
  const { payment } = await register({ ...body, confirmed: true });
  expect(await typesOf(payment.id)).toEqual(['PaymentReceived', 'PaymentConfirmed']);
});

test.each([
  ['0', /must be positive/],
  ['1.0000001', /USDC has 6 decimals/],
  ['-1', /decimal string/],
])('an amount of %s is refused', async (amount, message) => {
  const body = money(orderThat(applied), { amount });
  expect(await call('POST', '/payments', body)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', details: [{ path: 'amount', message: expect.stringMatching(message) }] },
  });
  expect(await typesOf(paymentIdOf('gateway_pay', body.provider_id))).toEqual([]);
});

test('only the services may ask', async () => {
  const response = await app.inject({ method: 'POST', url: '/payments', payload: money(orderThat(applied)) });
  expect(response.statusCode).toBe(401);
});

test('outcomes that orders tell are recorded once, those of payments that are gone passed over', async () => {
  const { payment } = await register(money(orderThat(held)));
  const outcomes = [
    { ...late({ paymentId: payment.id } as never, true) },
    { status: 'orphan', payment_id: newId('payment'), orphan_reason: 'late', at: DECIDED_AT },
    { status: 'received', payment_id: payment.id },
  ];
  expect((await call('POST', '/outcomes', { outcomes })).status).toBe(204);
  expect((await call('POST', '/outcomes', { outcomes })).status).toBe(204);
  expect(await typesOf(payment.id)).toEqual(['PaymentReceived', 'PaymentOrphaned']);
  expect(await rowOf(payment.id)).toMatchObject({ status: 'orphan' });
});

describe('on Kafka', () => {
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
    const { payment } = await register(money(orderThat(applied)));
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
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => register(money(orderThat(held)))));
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
    await publisher.publish(TOPICS.orders.name, [...events, ...events]);
    const rows = await until(async () => {
      const found = await Promise.all(ids.map(rowOf));
      return found.every(({ status }) => status !== 'received') && found;
    });
    expect(rows.map(({ resource }) => [resource.status, resource.orphan_reason, resource.updated_at])).toEqual([
      ['applied', undefined, DECIDED_AT],
      ['orphan', 'late', DECIDED_AT],
      ['orphan', 'canceled', DECIDED_AT],
    ]);
    const recorded = await readStream(client, paymentStreamOf(ids[0]), PaymentEvent);
    expect(recorded!.at(-1)!.metadata).toMatchObject({
      actor: 'service:payments',
      $causationId: events[0]!.id,
      $correlationId: 'req_test',
    });
    expect(recorded).toHaveLength(2);
  });

  test('the payments of a deleted order are forgotten', async () => {
    const { payment } = await register(money(orderThat(applied)));
    const change = {
      orderId: payment.order_id,
      merchantId: MERCHANT,
      actor: 'key:test',
      lastHash: '',
      sequence: 3,
      at,
    };
    await publisher.publish(TOPICS.orders.name, [message(payment.order_id, 'order.deleted', change)]);
    expect(await until(async () => (await rowOf(payment.id)).deleted && rowOf(payment.id))).toMatchObject({
      resource: null,
    });
  });
});

describe('forgetting the payments of a deleted order', () => {
  test('leaves their id and merchant, and makes their streams unreadable; twice changes nothing', async () => {
    const orderId = orderThat(applied);
    const body = money(orderId);
    const { payment } = await register(body);
    for (const _ of ['once', 'twice']) {
      expect((await call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
      expect(await rowOf(payment.id)).toEqual({
        id: payment.id,
        merchant_id: MERCHANT,
        order_id: null,
        status: null,
        currency: null,
        payment_rail: null,
        created_at: null,
        revision: '1',
        deleted: true,
        resource: null,
      });
    }
    expect(await readStream(client, paymentStreamOf(payment.id), PaymentEvent)).toBeNull();
    expect((await call('POST', '/payments', body)).status).toBe(404);
  });

  test('goes on where a crash stopped it', async () => {
    const orderId = orderThat(applied);
    const { payment } = await register(money(orderId));
    await client.tombstoneStream(paymentStreamOf(payment.id));
    expect((await call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
    expect(await rowOf(payment.id)).toMatchObject({ deleted: true });
  });

  test('keeps money that its order never settled', async () => {
    const orderId = orderThat(held);
    const { payment } = await register(money(orderId));
    expect((await call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
    expect(await rowOf(payment.id)).toMatchObject({ deleted: false, status: 'received' });
  });
});

describe('the read model', () => {
  test('learns from the log what a crash kept from it, and no more', async () => {
    const orderId = newId('order');
    const command = {
      type: 'ReceivePayment',
      paymentId: paymentIdOf('gateway_pay', orderId),
      merchantId: MERCHANT,
      orderId,
      rail: 'gateway_pay',
      providerId: orderId,
      currency: 'USDC',
      amountMinor: 10n,
      feeMinor: 0n,
      feeSchedule: 'test',
      confirmed: true,
      seenAt: new Date(DECIDED_AT),
      at: new Date(DECIDED_AT),
    } as const;
    const handler = commandHandler({
      client,
      decider: paymentDecider,
      schema: PaymentEvent,
      streamOf: paymentStreamOf,
    });
    await handler.handle(command.paymentId, command, { actor: 'key:test', requestId: 'r', correlationId: 'r' });
    expect(await until(() => rowOf(command.paymentId))).toMatchObject({ status: 'received', order_id: orderId });
  });

  test('made anew from the streams has the same rows', async () => {
    const rows = async () => (await pool.query('select *, resource::text from payments.payments order by id')).rows;
    const before = await rows();
    expect(before.some(({ deleted }) => deleted)).toBe(true);
    await projection.stop();
    await pool.query('truncate payments.payments');
    await pool.query("delete from payments.checkpoints where name = 'projection'");
    projection = startProjection();
    const replayed = await until(async () => {
      const found = await rows();
      return JSON.stringify(found) === JSON.stringify(before) && found;
    });
    expect(replayed).toEqual(before);
  });
});
