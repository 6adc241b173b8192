import { type DomainMessage, messageTypeOf, type Order } from '@cpg/contracts';
import { EventStoreDBClient } from '@eventstore/db-client';
import { type KafkaLog, readKafkaLog } from './harness/kafka-log.ts';
import { ledgerOf, ledgerShown } from './harness/ledger.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { readOrderStream } from './harness/order-stream.ts';
import { sharedStack } from './harness/shared-stack.ts';

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

/** Lives that orders can have, and the state they end in. */
const LIVES: [string, () => Promise<Order>][] = [
  ['created', () => create()],
  [
    'paid in parts and too much',
    async () => {
      const order = await create();
      await pay(order, '4');
      await pay(order, '7.5');
      return pay(order, '1');
    },
  ],
  [
    'held, then captured',
    async () => {
      const order = await create({ capabilities: { partial_payments: false } });
      await pay(order, '1');
      await pay(order, '2');
      return shop.api.capture(order.id);
    },
  ],
  [
    'changed and canceled with money on it',
    async () => {
      const order = await create({ metadata: { a: { b: [1, 'ü', null] } } });
      await shop.api.updateOrder(order.id, { metadata: { c: 0.1 }, expiration_minutes: 30 });
      await pay(order, '4');
      return shop.api.cancel(order.id);
    },
  ],
  ['overpaid and whole', async () => pay(await create({ capabilities: { can_overpay: true } }), '99.000001')],
];

describe('the stream in EventStoreDB', () => {
  test.each(LIVES)('of an order %s adds up to what the API shows, and its hash chain holds', async (_, live) => {
    const order = await live();
    const stored = (await readOrderStream(store, order.id))!;
    expect(stored.map(({ revision }) => revision)).toEqual(stored.map((__, index) => index));
    expect(ledgerOf(stored.map(({ event }) => event))).toEqual(ledgerShown(order));
    expect(ledgerShown(await shop.api.order(order.id))).toEqual(ledgerShown(order));
  });

  test('says which key asked, in which request', async () => {
    const answer = await shop.api.send('POST', '/v1/orders', { body: orderBody() });
    const [created] = (await readOrderStream(store, answer.body.id))!;
    expect(created!.metadata).toMatchObject({
      actor: `key:${shop.key.slice('ak_sandbox_'.length).slice(0, 12)}`,
      requestId: answer.headers['x-request-id'],
      $causationId: answer.headers['x-request-id'],
    });
  });

  test('of a deleted order is a tombstone; a record without what was in it stays', async () => {
    const order = await create({ metadata: { customer: 'Ada' } });
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
      /Ada|Coffee|cart/,
    );
  });
});

describe('on Kafka', () => {
  test.each(LIVES)(
    'an order %s is told event by event, without a gap, each with the order after it',
    async (_, live) => {
      const order = await live();
      const stored = (await readOrderStream(store, order.id))!;
      const messages = await kafka.waitFor(order.id, ({ length }) => length === stored.length);
      expect(messages.map(({ sequence }) => sequence)).toEqual(stored.map(({ revision }) => String(revision)));
      expect(typesOf(messages)).toEqual(stored.map(({ event }) => messageTypeOf(event.type)));
      expect(messages.map(({ data }) => data.change)).toEqual(stored.map(({ event }) => event.data));
      expect(messages.map(({ correlationid, causationid }) => [correlationid, causationid])).toEqual(
        stored.map(({ metadata }) => [metadata.$correlationId, metadata.$causationId]),
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

  test('a payment is told from receipt to its application', async () => {
    const { payments } = await pay(await create(), '10');
    const messages = await kafka.waitFor(payments[0]!.id, endsWith('payment.applied'));
    expect(typesOf(messages)).toEqual(['payment.received', 'payment.applied']);
    expect(messages.map(({ sequence }) => sequence)).toEqual(['0', '1']);
    expect(messages.at(-1)!.data.resource).toEqual(await shop.api.payment(payments[0]!.id));
    expect(messages[0]).toMatchObject({ orderid: payments[0]!.order_id, merchantid: shop.id });
  });

  test('an orphan is told too', async () => {
    const order = await create();
    await pay(order, '10');
    const { payments } = await pay(order, '1');
    const messages = await kafka.waitFor(payments[1]!.id, endsWith('payment.orphaned'));
    expect(messages.at(-1)!.data.change).toMatchObject({ orphanReason: 'already_paid' });
  });

  test('a deleted order ends with its deletion, without the order', async () => {
    const order = await create();
    await shop.api.deleteOrder(order.id);
    const messages = await kafka.waitFor(order.id, endsWith('order.deleted'));
    expect(messages.at(-1)!.data).toMatchObject({ change: { orderId: order.id, merchantId: shop.id }, resource: null });
  });

  test('a request that was refused or changed nothing tells nothing', async () => {
    const order = await create();
    await shop.api.capture(order.id);
    await shop.api.send('POST', `/v1/orders/${order.id}/cancel`, { body: { no: 'body' } });
    await shop.api.cancel(order.id);
    await shop.api.cancel(order.id);
    await create();
    const messages = await kafka.waitFor(order.id, endsWith('order.canceled'));
    expect(typesOf(messages)).toEqual(['order.created', 'order.canceled']);
  });

  test('nothing was ever written that the contracts cannot read, or under another key than its order', () => {
    expect(kafka.faults()).toEqual([]);
  });
});
