import { isDeepStrictEqual } from 'node:util';
import { type DomainMessage, webhookEventsOf, type WebhookPayload } from '@cpg/contracts';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Api } from '../harness/api.ts';
import { readKafkaLog } from '../harness/kafka-log.ts';
import { ledgerFromApi, ledgerFromEvents, linkedStreamsIn, readOrderStream } from '../harness/order-stream.ts';
import { type Attempt, type Receiver, verifyDelivery } from '../harness/receiver.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { until } from '../harness/until.ts';
import type { Bought } from './purchases.ts';
import type { Report } from './report.ts';

/** Reads the lists of orders and payments page by page and compares them with what was bought. */
export const checkLists = async (api: Api, report: Report, bought: readonly Bought[], since: string): Promise<void> => {
  const readAllPages = async <T>(list: (page: number) => Promise<{ items: T[]; page: number; totalPages: number }>) => {
    const items: T[] = [];
    for (let page = 1; ; page += 1) {
      const found = await list(page);
      items.push(...found.items);
      report.line(`page ${page} of ${found.totalPages}: ${found.items.length} items`);
      if (found.page >= found.totalPages) return items;
    }
  };
  const orders = await readAllPages((page) => api.orders({ from_date: since, limit: 4, sort: 'asc', page }));
  report.equal(
    'the list of orders contains each order once',
    orders,
    bought.map(({ order }) => order),
  );
  const payments = await readAllPages((page) => api.payments({ from_date: since, limit: 4, sort: 'asc', page }));
  report.equal(
    'the list of payments contains the payments of the orders',
    payments,
    bought.flatMap(({ order }) => order.payments),
  );
  const { total } = await api.orders({ from_date: since, status: 'awaiting_payment' });
  report.equal('no order awaits payment', total, 0);
};

/** Prints the history of the first order and checks it. */
export const checkHistory = async (api: Api, report: Report, [bought]: readonly Bought[]): Promise<void> => {
  const { order } = bought!;
  const { items } = await api.history(order.id);
  for (const { at, type, actor } of items) report.line(`${at} ${type} by ${actor}`);
  const streams = [`order-${order.id}`, ...order.payments.map(({ id }) => `payment-${id}`)];
  report.equal('its hash chains are complete', linkedStreamsIn(items).sort(), streams.sort());
  const asCreated = await api.order(order.id, { at: order.created_at });
  report.equal(
    'the order can be read as of its creation',
    [asCreated.status, asCreated.payments],
    ['awaiting_payment', []],
  );
};

/** Checks that the streams in EventStoreDB have valid hash chains and add up to the orders. */
export const checkStreams = async (stack: StackFiles, report: Report, bought: readonly Bought[]): Promise<void> => {
  const store = EventStoreDBClient.connectionString(stack.eventstoreUrl);
  for (const { order } of bought) {
    const events = ((await readOrderStream(store, order.id)) ?? []).map(({ event }) => event);
    report.line(`order-${order.id}: ${events.map(({ type }) => type).join(', ')}`);
    report.equal(
      'its hash chain is valid, and its events add up to the order',
      ledgerFromEvents(events),
      ledgerFromApi(order),
    );
  }
  await store.dispose();
};

export interface Published {
  readonly stack: StackFiles;
  readonly receiver: Receiver;
  /** The path of the webhook endpoint. */
  readonly path: string;
  readonly secret: string;
}

/** Checks that Kafka has every event of what was bought, and that webhooks delivered the same events. */
export const checkPublishedEvents = async (
  published: Published,
  report: Report,
  bought: readonly Bought[],
): Promise<void> => {
  const messages = await checkMessages(published.stack, report, bought);
  await checkDeliveries(published, report, messages);
};

/** Resolves with the Kafka messages by event id. */
const checkMessages = async (stack: StackFiles, report: Report, bought: readonly Bought[]) => {
  const kafka = await readKafkaLog(stack.kafkaBrokers);
  const byId = new Map<string, DomainMessage>();
  for (const { order, payments } of bought) {
    const ofOrder = await kafka.waitFor(order.id, (messages) =>
      isDeepStrictEqual(messages.at(-1)!.data.resource, order),
    );
    report.line(`orders.v1, ${order.id}: ${ofOrder.map(({ type }) => type).join(', ')}`);
    const sequence = ofOrder.map((message) => Number(message.sequence));
    report.equal('they are numbered without gaps', sequence, [...ofOrder.keys()]);
    report.equal('the last one has the order as the API shows it', ofOrder.at(-1)!.data.resource, order);
    const ended = new Set(['payment.applied', 'payment.orphaned']);
    const ofPayments = await Promise.all(
      order.payments.map(({ id }) => kafka.waitFor(id, (messages) => ended.has(messages.at(-1)!.type))),
    );
    report.equal('payments.v1 has the final event of each payment', ofPayments.length, payments);
    for (const message of [...ofOrder, ...ofPayments.flat()]) byId.set(message.id, message);
  }
  report.equal('every message matches its contract', kafka.faults(), []);
  await kafka.close();
  return byId;
};

const checkDeliveries = async (
  { receiver, path, secret }: Published,
  report: Report,
  messages: ReadonlyMap<string, DomainMessage>,
): Promise<void> => {
  const expected = [...messages.values()].filter((message) => webhookEventsOf(message).length > 0);
  const attempts = await until('all webhooks', () => {
    const received = receiver.attemptsOn(path);
    const keys = new Set(received.map(({ headers }) => headers['x-idempotency-key']));
    return expected.every(({ id }) => keys.has(id)) && received;
  });
  report.line(`${attempts.length} webhooks for ${expected.length} events`);
  report.isTrue(
    'each one verifies with standardwebhooks and by x-signature',
    attempts.every((attempt) => isValid(attempt, secret)),
  );
  report.isTrue(
    'each one has the data of its Kafka message',
    attempts.every((attempt) => isSame(attempt, messages.get(attempt.headers['x-idempotency-key']!))),
  );
};

/** Whether the signature of a delivery is that of the secret. */
export const isValid = (attempt: Attempt, secret: string): boolean => {
  try {
    return verifyDelivery(attempt, secret) !== null;
  } catch {
    return false;
  }
};

const isSame = ({ rawBody }: Attempt, message: DomainMessage | undefined): boolean => {
  const { event, data } = JSON.parse(rawBody) as WebhookPayload;
  return (
    message !== undefined && webhookEventsOf(message)[0] === event && isDeepStrictEqual(data, message.data.resource)
  );
};
