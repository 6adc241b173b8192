import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AssignedInstruction, OrderEvent, type OrderMessage, TOPICS } from '@cpg/contracts';
import { startEventStore } from '@cpg/embedded-eventstore';
import { startKafka } from '@cpg/embedded-kafka';
import { commandHandler, connectEventStore, readStream } from '@cpg/event-store';
import { consume, createKafka, createPublisher, ensureTopics } from '@cpg/kafka';
import { createPool, migrate, type Pool, testDatabase } from '@cpg/postgres';
import { createLogger, internalClient, newId } from '@cpg/runtime';
import { catchUp, type Follower, rebuild, relay, verify } from '@cpg/stream-relay';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { buildApp } from './app.ts';
import { paymentsClient } from './clients/payments.ts';
import { orderCommands } from './commands.ts';
import { watchDeadlines } from './deadlines.ts';
import { finishDeletions, orderDeletion } from './deletion.ts';
import { orderHistory } from './history.ts';
import { orderMessages } from './messages.ts';
import { orderDecider } from './order/order.ts';
import { orderProjection } from './projections/order-projection.ts';
import { projectOrders } from './projections/orders.ts';
import { readRateTable, tableRates } from './rates/table.ts';
import { instruction, payment } from './testing/orders.ts';

const MIGRATIONS = join(import.meta.dirname, '../migrations');
const TOKEN = 'a-token-that-services-share-in-tests';
const log = createLogger({ name: 'orders', level: process.env.LOG_LEVEL ?? 'silent' });

/** The payments service as orders sees it: it hands out one instruction and remembers what it was told. */
const startPaymentsStub = async () => {
  const told: { path: string; body: unknown }[] = [];
  let slow = false;
  const bodyOf = async (request: IncomingMessage) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    return text === '' ? null : JSON.parse(text);
  };
  const server: Server = createServer(async (request, response) => {
    told.push({ path: `${request.method} ${request.url}`, body: await bodyOf(request) });
    if (request.url === '/instructions' && slow) return;
    const answer =
      request.url === '/instructions' ? { instructions: [instruction] satisfies AssignedInstruction[] } : undefined;
    response
      .writeHead(answer ? 200 : 204, { 'content-type': 'application/json' })
      .end(answer && JSON.stringify(answer));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    told,
    setSlow: (value: boolean) => void (slow = value),
    stop: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
};

const until = async <T>(look: () => Promise<T | undefined | null | false>): Promise<T> => {
  for (;;) {
    const found = await look();
    if (found) return found;
    await sleep(20);
  }
};

type App = ReturnType<typeof buildApp>;

let database: Awaited<ReturnType<typeof testDatabase>>;
let eventStore: Awaited<ReturnType<typeof startEventStore>>;
let kafkaServer: Awaited<ReturnType<typeof startKafka>>;
let stub: Awaited<ReturnType<typeof startPaymentsStub>>;
let client: EventStoreDBClient;
let pool: Pool;
let app: App;
let followers: Follower[];
let clock = 0;
const now = () => new Date(Date.now() + clock);
const closing: (() => unknown)[] = [];
const heard: OrderMessage[] = [];

beforeAll(async () => {
  database = await testDatabase();
  const engines = await Promise.all([testDatabase(), testDatabase()]);
  [eventStore, kafkaServer] = await Promise.all([
    startEventStore({ databaseUrl: engines[0].url, port: 0 }),
    startKafka({ databaseUrl: engines[1].url, port: 0 }),
  ]);
  stub = await startPaymentsStub();
  client = connectEventStore(eventStore.url);
  pool = createPool({ url: database.url, name: 'orders-test', disposable: true, log });
  await migrate(pool, { schema: 'orders', folder: MIGRATIONS });
  const http = internalClient({ name: 'payments', url: stub.url, token: TOKEN });
  const handler = commandHandler({
    client,
    decider: orderDecider,
    schema: OrderEvent,
    streamOf: (id) => `order-${id}`,
  });
  const payments = paymentsClient(http);
  const rates = tableRates(readRateTable(join(import.meta.dirname, '../config/sandbox-rates.json')));
  const project = (order: Parameters<typeof projectOrders>[1][number]['order'], revision: number) =>
    projectOrders(pool, [{ order, revision }]);
  const commands = orderCommands({ handler, project, payments, rates, now, log });
  const deletion = orderDeletion({ client, handler, readModel: pool, payments });
  const history = orderHistory({ client, readModel: pool });
  app = buildApp({ token: TOKEN, commands, handler, deletion, payments, history, sandbox: true, now, log, checks: {} });

  const kafka = createKafka({ KAFKA_BROKERS: [kafkaServer.brokers] }, { clientId: 'orders-test', log });
  await ensureTopics(kafka, [TOPICS.orders.name, TOPICS.payments.name], { partitions: 4, replication: 1 });
  const publisher = createPublisher(kafka, { transactionalId: 'orders.relay' });
  const follower = { client, pool, databaseUrl: database.url, log };
  const projection = orderProjection(client);
  const { schema, prefixes } = projection;
  const topic = TOPICS.orders.name;
  followers = [
    catchUp({ ...follower, projection, first: finishDeletions(client, deletion) }),
    relay({ ...follower, schema, prefixes, publisher, topic, messageOf: orderMessages(client) }),
    watchDeadlines({ readModel: pool, handler, commands, now, log, everyMs: 20 }),
    consume({
      kafka,
      groupId: 'listener',
      topics: [TOPICS.orders],
      handle: async (messages) => void heard.push(...messages),
      isOutage: () => true,
      log,
    }),
  ];
  closing.push(
    () => app.close(),
    () => Promise.all(followers.map((each) => each.stop())),
    () => publisher.close(),
    () => http.close(),
    () => client.dispose(),
    () => Promise.all([eventStore.stop(), kafkaServer.stop(), stub.stop()]),
    () => pool.end(),
    () => Promise.all([database, ...engines].map((each) => each.drop())),
  );
});

afterAll(async () => {
  for (const close of closing) await close();
});

const MERCHANT = newId('merchant');
const body = (changes: Record<string, unknown> = {}) => ({
  external_reference_id: 'cart-1',
  items: [
    {
      name: 'coffee',
      quantity: 2,
      unit_price: '45.50',
      currency: 'MXN',
      modifiers: [{ name: 'oat milk', quantity: 1, unit_price: '9', currency: 'MXN' }],
    },
  ],
  enable_rails: ['gateway_pay'],
  payment_currency: 'USDC',
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
  ...changes,
});

const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) => {
  const response = await app.inject({
    method,
    url,
    payload,
    headers: { authorization: `Bearer ${TOKEN}`, 'x-actor': 'key:test' },
  });
  return { status: response.statusCode, body: response.json() };
};

const create = async (changes = {}) => {
  const orderId = newId('order');
  const { status, body: order } = await call('POST', '/orders', {
    order_id: orderId,
    merchant_id: MERCHANT,
    order: body(changes),
  });
  expect(status).toBe(201);
  return order;
};

const rowOf = async (id: string) => (await pool.query('select * from orders.orders where id = $1', [id])).rows[0];
const streamOf = async (id: string) => readStream(client, `order-${id}`, OrderEvent);
const messagesOf = (id: string) => heard.filter((message) => message.subject === id);

test('a created order is priced, instructed, durable, visible at once and told to Kafka', async () => {
  const order = await create();
  // 2 x 45.50 + 9 = 100 MXN at 0.0545
  expect(order).toMatchObject({
    status: 'awaiting_payment',
    total_amount: '5.450000',
    remaining_amount: '5.450000',
    rates: { MXN: { rate: '0.0545', source: 'sandbox' } },
  });
  expect(order.deposit_instructions[0]).toMatchObject({
    rail: 'gateway_pay',
    amount: '5.450000',
    payment_reference: 'REF',
  });
  const row = await rowOf(order.id);
  expect(row).toMatchObject({ merchant_id: MERCHANT, status: 'awaiting_payment', revision: '0' });
  expect(row.resource).toEqual(order);
  const [recorded] = (await streamOf(order.id))!;
  expect(recorded!.metadata).toMatchObject({ actor: 'key:test' });
  const message = await until(async () => messagesOf(order.id)[0]);
  expect(message).toMatchObject({ type: 'order.created', id: recorded!.id, sequence: '0', merchantid: MERCHANT });
  expect(message.data.resource).toEqual(order);
});

test('the same order id is the same order', async () => {
  const order = await create();
  const { body: again } = await call('POST', '/orders', { order_id: order.id, merchant_id: MERCHANT, order: body() });
  expect(again).toEqual(order);
  expect(await streamOf(order.id)).toHaveLength(1);
});

test('payments offered at once, each one twice, are each applied once', async () => {
  const order = await create({ items: [{ name: 'x', quantity: 1, unit_price: '10', currency: 'USDC' }] });
  const offers = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5].map((n) =>
    call('POST', `/orders/${order.id}/payments`, {
      payment: { ...payment(n, 2_000_000n), seenAt: new Date().toISOString() },
      confirmed: true,
    }),
  );
  const answers = await Promise.all(offers);
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect(answers.every(({ body: { outcomes } }) => outcomes.length > 0 && outcomes[0].status === 'applied')).toBe(true);
  const { resource } = await rowOf(order.id);
  expect(resource).toMatchObject({ status: 'paid', remaining_amount: '0.000000' });
  expect(resource.payments).toHaveLength(5);
  await until(async () => messagesOf(order.id).some(({ type }) => type === 'order.paid'));
  const sequence = messagesOf(order.id).map((message) => Number(message.sequence));
  expect(sequence).toEqual(sequence.map((_, index) => index));
});

describe('the past of a merchant’s orders', () => {
  const ALWAYS = { from: '2020-01-01T00:00:00.000Z', to: '2999-01-01T00:00:00.000Z' };
  const query = (values: Record<string, string | number>) =>
    new URLSearchParams(Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]));
  const ordersOf = async (merchantId: string, range: object = {}) =>
    (await call('GET', `/merchants/${merchantId}/orders?${query({ ...ALWAYS, limit: 100, ...range })}`)).body;
  const past = async (id: string, range: object = {}) =>
    (await call('GET', `/orders/${id}/messages?${query({ ...ALWAYS, ...range })}`)).body;
  const createFor = async (merchantId: string) => {
    const order = body({ items: [{ name: 'x', quantity: 1, unit_price: '10', currency: 'USDC' }] });
    return (await call('POST', '/orders', { order_id: newId('order'), merchant_id: merchantId, order })).body;
  };
  const offer = (id: string, n: number, amountMinor: bigint) =>
    call('POST', `/orders/${id}/payments`, {
      payment: { ...payment(n, amountMinor), seenAt: new Date().toISOString() },
      confirmed: true,
    });

  test('is told byte by byte as the topic told it', async () => {
    const order = await createFor(newId('merchant'));
    await call('PATCH', `/orders/${order.id}`, {
      merchant_id: order.merchant_id,
      changes: { metadata: { 2: 'b', 1: 'a' } },
    });
    await offer(order.id, 901, 10_000_000n);
    await until(async () => messagesOf(order.id).some(({ type }) => type === 'order.paid'));
    const { messages, more } = await past(order.id);
    expect(more).toBe(false);
    expect(messages.map(({ message }: { message: unknown }) => JSON.stringify(message))).toEqual(
      messagesOf(order.id).map((message) => JSON.stringify(message)),
    );
  });

  test('goes on after a place, and leaves out what is not in the range', async () => {
    const order = await createFor(newId('merchant'));
    await offer(order.id, 902, 10_000_000n);
    const all = (await past(order.id)).messages;
    expect((await past(order.id, { after: all[0].place })).messages).toEqual(all.slice(1));
    expect((await past(order.id, { to: '2020-01-02T00:00:00.000Z' })).messages).toEqual([]);
  });

  test('names the orders that were alive in the range, oldest first, page by page', async () => {
    const merchantId = newId('merchant');
    const created = [];
    for (let n = 0; n < 5; n += 1) created.push(await createFor(merchantId));
    await createFor(newId('merchant'));
    const ids = created.map(({ id }) => id);
    const found: string[] = [];
    for (let after: string | null = null; ;) {
      const { orders, next } = await ordersOf(merchantId, { limit: 2, ...(after !== null && { after }) });
      found.push(...orders.map(({ id }: { id: string }) => id));
      if (next === null) break;
      after = next;
    }
    expect(found).toEqual(ids);
    const before = new Date(Date.parse(created[0].created_at) - 1).toISOString();
    expect(await ordersOf(merchantId, { to: before })).toEqual({ orders: [], next: null });
    const afterAll = new Date(Date.now() + 60_000).toISOString();
    expect(await ordersOf(merchantId, { from: afterAll })).toEqual({ orders: [], next: null });
  });

  test('has an order whose last event bears an earlier instant than the one before', async () => {
    const order = await createFor(newId('merchant'));
    await offer(order.id, 903, 10_000_000n);
    const changed = await call('PATCH', `/orders/${order.id}`, {
      merchant_id: order.merchant_id,
      changes: { metadata: {} },
    });
    await call('POST', `/orders/${order.id}/payments/${payment(903, 1n).paymentId}/refunds`, {
      refund_id: newId('refund'),
      refunded_total_minor: '1000000',
      at: order.created_at,
    });
    const { resource, last_event_at } = await rowOf(order.id);
    expect(resource.updated_at).toBe(order.created_at);
    expect(last_event_at.toISOString()).toBe(changed.body.updated_at);
    const { orders } = await ordersOf(order.merchant_id, { from: changed.body.updated_at });
    expect(orders.map(({ id }: { id: string }) => id)).toEqual([order.id]);
  });

  test('looks at a bounded number of orders for one answer, and says where it is', async () => {
    const merchantId = newId('merchant');
    await pool.query(
      `insert into orders.orders (id, merchant_id, created_at, last_event_at, revision)
       select 'old_' || lpad(n::text, 5, '0'), $1, $2::timestamptz + n * interval '1 ms', $2, 0 from generate_series(1, 4500) as n`,
      [merchantId, '2024-01-01T00:00:00.000Z'],
    );
    const order = await createFor(merchantId);
    const answers = [];
    for (let after = ''; ; after = answers.at(-1).next) {
      answers.push(await ordersOf(merchantId, { from: order.created_at, ...(after && { after }) }));
      if (answers.at(-1).next === null) break;
    }
    await pool.query("delete from orders.orders where id like 'old\\_%'");
    expect(answers.map(({ orders }) => orders.map(({ id }: { id: string }) => id))).toEqual([[], [], [order.id]]);
  });

  test('does not have an order that was deleted', async () => {
    const order = await createFor(newId('merchant'));
    await call('DELETE', `/orders/${order.id}`, { merchant_id: order.merchant_id });
    expect(await ordersOf(order.merchant_id)).toEqual({ orders: [], next: null });
    expect(await past(order.id)).toEqual({ messages: [], more: false });
  });

  test('is only told to a caller with the services’ token', async () => {
    for (const url of [`/merchants/${MERCHANT}/orders`, `/orders/${newId('order')}/messages`])
      expect((await app.inject(`${url}?${query({ ...ALWAYS, limit: 1 })}`)).statusCode).toBe(401);
  });
});

test('an order of another merchant is not found', async () => {
  const order = await create();
  for (const [method, url] of [
    ['POST', 'cancel'],
    ['POST', 'capture'],
  ] as const) {
    expect(await call(method, `/orders/${order.id}/${url}`, { merchant_id: newId('merchant') })).toMatchObject({
      status: 404,
    });
  }
  expect(await call('DELETE', `/orders/${order.id}`, { merchant_id: newId('merchant') })).toMatchObject({
    status: 404,
  });
});

test('canceling tells payments what became of the money', async () => {
  const order = await create();
  await call('POST', `/orders/${order.id}/payments`, {
    payment: { ...payment(7, 1_000_000n), seenAt: new Date().toISOString() },
    confirmed: true,
  });
  const canceled = await call('POST', `/orders/${order.id}/cancel`, { merchant_id: MERCHANT });
  expect(canceled.body).toMatchObject({
    status: 'canceled',
    payments: [{ status: 'orphan', orphan_reason: 'canceled' }],
  });
  expect(stub.told.at(-1)).toMatchObject({
    path: 'POST /outcomes',
    body: { outcomes: [{ status: 'orphan', orphan_reason: 'canceled' }] },
  });
});

test('an order expires by the clock', async () => {
  const order = await create({ expiration_minutes: 5 });
  clock += 6 * 60_000;
  const row = await until(async () => {
    const found = await rowOf(order.id);
    return found.status === 'expired' && found;
  });
  expect(row.due_at).toBeNull();
});

test('an order that renews gets a new deadline', async () => {
  const order = await create({
    expiration_minutes: 5,
    capabilities: { ...body().capabilities, expiration_auto_renewal: true },
  });
  clock += 6 * 60_000;
  const row = await until(async () => {
    const found = await rowOf(order.id);
    return found.revision === '1' && found;
  });
  expect(row.status).toBe('awaiting_payment');
  expect(row.resource.expiration_date > order.expiration_date).toBe(true);
});

describe('a clock that is put forward', () => {
  const advance = (id: string, minutes: number) => call('POST', `/orders/${id}/time`, { minutes });

  test('moves the deadline, and Kafka hears of it', async () => {
    const order = await create({ expiration_minutes: 60 });
    const { status, body: nearer } = await advance(order.id, 45);
    expect({ status, state: nearer.status }).toEqual({ status: 200, state: 'awaiting_payment' });
    expect(Date.parse(order.expiration_date) - Date.parse(nearer.expiration_date)).toBe(45 * 60_000);
    const message = await until(async () => messagesOf(order.id).find(({ type }) => type === 'order.time_advanced'));
    expect(message.data).toMatchObject({ change: { minutes: 45 }, resource: { status: 'awaiting_payment' } });
  });

  test('shows at once what fell due: expiry, of which payments hear, or new quotes', async () => {
    const flags = body().capabilities;
    const order = await create({ capabilities: { ...flags, partial_payments: false } });
    const held = { ...payment(21, 1_000_000n), seenAt: now().toISOString() };
    await call('POST', `/orders/${order.id}/payments`, { payment: held, confirmed: true });
    expect((await advance(order.id, 61)).body).toMatchObject({ status: 'expired', payments: [{ status: 'orphan' }] });
    expect(stub.told.at(-1)).toMatchObject({ path: 'POST /outcomes', body: { outcomes: [{ orphan_reason: 'late' }] } });
    expect(await advance(order.id, 1)).toMatchObject({ status: 409, body: { code: 'order_state_conflict' } });
    const renewing = await create({ capabilities: { ...flags, expiration_auto_renewal: true } });
    const renewed = (await advance(renewing.id, 61)).body;
    expect(renewed.status).toBe('awaiting_payment');
    expect(renewed.expiration_date > renewing.expiration_date).toBe(true);
  });

  test.each([0, 43_201, 1.5])('%d minutes are refused by name', async (minutes) =>
    expect((await advance(newId('order'), minutes)).body.details[0].path).toBe('minutes'),
  );
});

test('while a provider is slow the order is initialized, and gets its instructions later', async () => {
  stub.setSlow(true);
  const order = await create();
  expect(order).toMatchObject({ status: 'initialized', deposit_instructions: [] });
  stub.setSlow(false);
  clock += 60_000;
  const row = await until(async () => {
    const found = await rowOf(order.id);
    return found.status === 'awaiting_payment' && found;
  });
  expect(row.resource.deposit_instructions).toHaveLength(1);
}, 20_000);

test('a deleted order is gone, and leaves a record for auditors', async () => {
  const order = await create();
  expect(await call('DELETE', `/orders/${order.id}`, { merchant_id: MERCHANT })).toEqual({
    status: 200,
    body: { id: order.id, deleted: true },
  });
  expect(await rowOf(order.id)).toMatchObject({ deleted: true, resource: null, external_reference_id: null });
  expect(await streamOf(order.id)).toBeNull();
  expect(stub.told.at(-1)?.path).toBe(`DELETE /orders/${order.id}/payments`);
  const deletion = await until(async () => messagesOf(order.id).find(({ type }) => type === 'order.deleted'));
  expect(deletion.data).toMatchObject({
    change: { orderId: order.id, merchantId: MERCHANT, actor: 'key:test' },
    resource: null,
  });
  expect(await call('DELETE', `/orders/${order.id}`, { merchant_id: MERCHANT })).toMatchObject({ status: 404 });
  // The catch-up, which comes later, does not bring it back.
  await until(
    async () =>
      (await pool.query("select 1 from orders.checkpoints where name = 'projection' and commit_position is not null"))
        .rowCount,
  );
  expect(await rowOf(order.id)).toMatchObject({ deleted: true });
});

test('a deletion lets payments know the last of its payments before they are forgotten', async () => {
  const order = await create();
  const offered = { ...payment(31, 5_450_000n), seenAt: now().toISOString() };
  await call('POST', `/orders/${order.id}/payments`, { payment: offered, confirmed: true });
  expect((await call('DELETE', `/orders/${order.id}`, { merchant_id: MERCHANT })).status).toBe(200);
  const forgotten = stub.told.findIndex(({ path }) => path === `DELETE /orders/${order.id}/payments`);
  const applied = { status: 'applied', payment_id: offered.paymentId, applied_minor: '5450000' };
  expect(stub.told.slice(0, forgotten)).toContainEqual({
    path: 'POST /outcomes',
    body: { outcomes: [expect.objectContaining(applied)] },
  });
});

test('what comes after a deletion is still told and projected', async () => {
  const order = await create();
  await until(async () => messagesOf(order.id)[0]);
  const position = async () =>
    (await pool.query("select commit_position::text as at from orders.checkpoints where name = 'projection'")).rows[0]
      .at;
  const before = await position();
  await create();
  await until(async () => (await position()) !== before);
});

describe('the read model made anew from the streams', () => {
  const rows = async () =>
    (await pool.query('select *, null as claimed_until, resource::text from orders.orders order by id')).rows;
  const options = () => ({
    client,
    databaseUrl: database.url,
    projection: orderProjection(client),
    migrations: MIGRATIONS,
    signal: new AbortController().signal,
  });

  test('has the same rows, deleted and due ones among them, and a deletion that comes meanwhile stays one', async () => {
    const doomed = await create();
    const before = await rows();
    expect(before.some(({ deleted }) => deleted)).toBe(true);
    expect(before.some(({ due_at }) => due_at)).toBe(true);
    const [, deleted] = await Promise.all([
      rebuild(options()),
      call('DELETE', `/orders/${doomed.id}`, { merchant_id: MERCHANT }),
    ]);
    expect(deleted.status).toBe(200);
    expect(await rowOf(doomed.id)).toMatchObject({ deleted: true, resource: null });
    const others = (all: { id: string }[]) => all.filter(({ id }) => id !== doomed.id);
    expect(others(await rows())).toEqual(others(before));
    expect(await verify(options())).toMatchObject({ rows: before.length, differ: 0 });
  });

  test('expires what is due, as before', async () => {
    const order = await create({ expiration_minutes: 5 });
    await rebuild(options());
    clock += 6 * 60_000;
    await until(async () => (await rowOf(order.id)).status === 'expired');
  });
});
