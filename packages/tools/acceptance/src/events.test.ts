import { type DomainMessage, messageTypeOf, type Order } from '@cpg/contracts';
import { EventStoreDBClient } from '@eventstore/db-client';
import { type KafkaLog, readKafkaLog } from './harness/kafka-log.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { ledgerFromApi, ledgerFromEvents, readOrderStream } from './harness/order-stream.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let kafka: KafkaLog;
let store: EventStoreDBClient;

beforeAll(async () => {
  [shop, kafka] = await Promise.all([openShop(stack), readKafkaLog(stack.kafkaBrokers)]);
  store = EventStoreDBClient.connectionString(stack.eventstoreUrl);
});
afterAll(async () => {
  await Promise.all([shop.api.close(), kafka.close(), store.dispose()]);
});

const create = (changes = {}) => shop.api.createOrder(orderBody(changes));
const pay = ({ id }: Order, amount: string, more = {}) =>
  shop.api.pay({ order_id: id, payment_rail: 'crypto_deposit', amount, currency: 'USDT', ...more });
const typesOf = (messages: DomainMessage[]) => messages.map(({ type }) => type);
const endsWith = (type: string) => (messages: DomainMessage[]) => messages.at(-1)?.type === type;

/** Ways to use an order. Each resolves with the order as the API last returned it. */
const SCENARIOS: [string, () => Promise<Order>][] = [
  ['created', () => create()],
  [
    'paid in three parts, overpaid',
    async () => {
      const order = await create();
      await pay(order, '4');
      await pay(order, '7.5');
      return pay(order, '1');
    },
  ],
  [
    'captured with two held payments',
    async () => {
      const order = await create({ capabilities: { partial_payments: false } });
      await pay(order, '1');
      await pay(order, '2');
      return shop.api.capture(order.id);
    },
  ],
  [
    'changed, paid in part and canceled',
    async () => {
      const order = await create({ metadata: { a: { b: [1, 'ü', null] } } });
      await shop.api.updateOrder(order.id, { metadata: { c: 0.1 }, expiration_minutes: 30 });
      await pay(order, '4');
      return shop.api.cancel(order.id);
    },
  ],
  [
    'overpaid where overpaying is allowed',
    async () => pay(await create({ capabilities: { can_overpay: true } }), '99.000001'),
  ],
];

describe('the EventStoreDB stream', () => {
  test.each(SCENARIOS)('of an order %s adds up to the order in the API and has a valid hash chain', async (_, run) => {
    const order = await run();
    const stored = (await readOrderStream(store, order.id))!;
    expect(stored.map(({ revision }) => revision)).toEqual(stored.map((__, index) => index));
    expect(ledgerFromEvents(stored.map(({ event }) => event))).toEqual(ledgerFromApi(order));
    expect(ledgerFromApi(await shop.api.order(order.id))).toEqual(ledgerFromApi(order));
  });

  test('records the API key and the request of each change', async () => {
    const answer = await shop.api.send('POST', '/v1/orders', { body: orderBody() });
    const [created] = (await readOrderStream(store, answer.body.id))!;
    expect(created!.metadata).toMatchObject({
      actor: `key:${shop.key.slice('ak_sandbox_'.length).slice(0, 12)}`,
      requestId: answer.headers['x-request-id'],
      $causationId: answer.headers['x-request-id'],
    });
  });

  test('of a deleted order is a tombstone, and the deletion record contains no order data', async () => {
    const order = await create({ external_reference_id: 'cart-of-ada', metadata: { customer: 'Lovelace' } });
    await shop.api.deleteOrder(order.id);
    expect(await readOrderStream(store, order.id)).toBeNull();
    const records: unknown[] = [];
    for await (const { event } of store.readStream(`deletion-${order.id}`)) records.push(event);
    expect(records).toMatchObject([
      {
        type: 'OrderDeletionRecorded',
        data: { orderId: order.id, merchantId: shop.id, actor: expect.stringMatching(/^key:/) },
      },
    ]);
    expect(JSON.stringify(records, (__, value) => (typeof value === 'bigint' ? String(value) : value))).not.toMatch(
      /cart-of-ada|Lovelace|Coffee/,
    );
  });
});

describe('Kafka', () => {
  test.each(SCENARIOS)(
    'has every event of an order %s, without gaps, each with the resulting order',
    async (_, run) => {
      const order = await run();
      const stored = (await readOrderStream(store, order.id))!;
      const messages = await kafka.waitFor(order.id, ({ length }) => length === stored.length);
      expect(messages.map(({ sequence }) => sequence)).toEqual(stored.map(({ revision }) => String(revision)));
      expect(typesOf(messages)).toEqual(stored.map(({ event }) => messageTypeOf(event.type)));
      expect(messages.map(({ data }) => data.change)).toEqual(stored.map(({ event }) => event.data));
      expect(messages.map(({ correlationid, causationid, cpghash }) => [correlationid, causationid, cpghash])).toEqual(
        stored.map(({ metadata }) => [metadata.$correlationId, metadata.$causationId, metadata.hash]),
      );
      expect(messages.at(-1)!.data.resource).toEqual(order);
      for (const message of messages) {
        expect(message).toMatchObject({
          specversion: '1.0',
          subject: order.id,
          orderid: order.id,
          merchantid: shop.id,
        });
      }
    },
  );

  test('has the events of a payment from receipt to application', async () => {
    const { payments } = await pay(await create(), '10');
    const messages = await kafka.waitFor(payments[0]!.id, endsWith('payment.applied'));
    expect(typesOf(messages)).toEqual(['payment.received', 'payment.applied']);
    expect(messages.map(({ sequence }) => sequence)).toEqual(['0', '1']);
    expect(messages.at(-1)!.data.resource).toEqual(await shop.api.payment(payments[0]!.id));
    expect(messages[0]).toMatchObject({ orderid: payments[0]!.order_id, merchantid: shop.id });
  });

  test('has the event of an orphaned payment', async () => {
    const order = await create();
    await pay(order, '10');
    const { payments } = await pay(order, '1');
    const messages = await kafka.waitFor(payments[1]!.id, endsWith('payment.orphaned'));
    expect(messages.at(-1)!.data.change).toMatchObject({ orphanReason: 'already_paid' });
  });

  test('has a deletion event without the order as the last event of a deleted order', async () => {
    const order = await create();
    await shop.api.deleteOrder(order.id);
    const messages = await kafka.waitFor(order.id, endsWith('order.deleted'));
    expect(messages.at(-1)!.data).toMatchObject({ change: { orderId: order.id, merchantId: shop.id }, resource: null });
  });

  test('has no event for a request that was refused or changed nothing', async () => {
    const order = await create();
    await shop.api.capture(order.id);
    await shop.api.send('POST', `/v1/orders/${order.id}/cancel`, { body: { no: 'body' } });
    await shop.api.cancel(order.id);
    await shop.api.cancel(order.id);
    await create();
    const messages = await kafka.waitFor(order.id, endsWith('order.canceled'));
    expect(typesOf(messages)).toEqual(['order.created', 'order.canceled']);
  });

  test('has only messages that match the contracts, keyed by order', () => {
    expect(kafka.faults()).toEqual([]);
  });
});
