import { type DomainMessage, webhookEventOf, type WebhookPayload } from '@cpg/contracts';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Api } from '../harness/api.ts';
import { readKafkaLog } from '../harness/kafka-log.ts';
import { ledgerOf, ledgerShown } from '../harness/ledger.ts';
import { readOrderStream, wholeStreamsIn } from '../harness/order-stream.ts';
import type { Attempt, Receiver } from '../harness/receiver.ts';
import { verified } from '../harness/signatures.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { until } from '../harness/until.ts';
import type { Story } from './checks.ts';
import type { Bought } from './purchases.ts';

/** Orders and payments of the merchant, page by page, until what was bought has been seen. */
export const walkLists = async (api: Api, story: Story, bought: readonly Bought[], since: string): Promise<void> => {
  const walk = async <T>(list: (page: number) => Promise<{ items: T[]; page: number; totalPages: number }>) => {
    const items: T[] = [];
    for (let page = 1; ; page += 1) {
      const found = await list(page);
      items.push(...found.items);
      story.line(`page ${page} of ${found.totalPages}: ${found.items.length} items`);
      if (found.page >= found.totalPages) return items;
    }
  };
  const orders = await walk((page) => api.orders({ from_date: since, limit: 4, sort: 'asc', page }));
  story.same(
    'the list of orders holds each one once, as it was answered',
    orders,
    bought.map(({ order }) => order),
  );
  const payments = await walk((page) => api.payments({ from_date: since, limit: 4, sort: 'asc', page }));
  story.same(
    'the list of payments holds what the orders hold',
    payments,
    bought.flatMap(({ order }) => order.payments),
  );
  const { total } = await api.orders({ from_date: since, status: 'awaiting_payment' });
  story.same('none of them awaits payment any more', total, 0);
};

/** What happened to the first order, as its merchant reads it. */
export const readHistory = async (api: Api, story: Story, [bought]: readonly Bought[]): Promise<void> => {
  const { order } = bought!;
  const { items } = await api.history(order.id);
  for (const { at, type, actor } of items) story.line(`${at} ${type} by ${actor}`);
  const streams = [`order-${order.id}`, ...order.payments.map(({ id }) => `payment-${id}`)];
  story.same('nothing of it was changed or left out, say its hashes', wholeStreamsIn(items).sort(), streams.sort());
  const asCreated = await api.order(order.id, { at: order.created_at });
  story.same(
    'the order is read as it was when it was created',
    [asCreated.status, asCreated.payments],
    ['awaiting_payment', []],
  );
};

/** The streams in EventStoreDB: unbroken, and adding up to what the API shows. */
export const readStreams = async (stack: StackFiles, story: Story, bought: readonly Bought[]): Promise<void> => {
  const store = EventStoreDBClient.connectionString(stack.eventstoreUrl);
  for (const { order } of bought) {
    const events = ((await readOrderStream(store, order.id)) ?? []).map(({ event }) => event);
    story.line(`order-${order.id}: ${events.map(({ type }) => type).join(', ')}`);
    story.same('its hash chain holds, and its events add up to the order', ledgerOf(events), ledgerShown(order));
  }
  await store.dispose();
};

/** What internal teams read on Kafka, and what the merchant's endpoint was sent: the same events. */
export const hearEverything = async (
  { stack, receiver, path, secret }: { stack: StackFiles; receiver: Receiver; path: string; secret: string },
  story: Story,
  bought: readonly Bought[],
): Promise<void> => {
  const kafka = await readKafkaLog(stack.kafkaBrokers);
  const told = new Map<string, DomainMessage>();
  for (const { order, payments } of bought) {
    const isWhole = (messages: DomainMessage[]) =>
      JSON.stringify(messages.at(-1)!.data.resource) === JSON.stringify(order);
    const about = await kafka.waitFor(order.id, isWhole);
    story.line(`orders.v1, ${order.id}: ${about.map(({ type }) => type).join(', ')}`);
    story.same(
      'they are numbered without a gap',
      about.map(({ sequence }) => Number(sequence)),
      [...about.keys()],
    );
    story.same('the last one holds the order as the API shows it', about.at(-1)!.data.resource, order);
    const settled = new Set(['payment.applied', 'payment.orphaned']);
    const ofPayments = await Promise.all(
      order.payments.map(({ id }) => kafka.waitFor(id, (messages) => settled.has(messages.at(-1)!.type))),
    );
    story.same('payments.v1 tells of each payment until it is settled', ofPayments.length, payments);
    for (const message of [...about, ...ofPayments.flat()]) told.set(message.id, message);
  }
  story.same('no message on Kafka was out of its contract', kafka.faults(), []);
  await kafka.close();

  const expected = [...told.values()].filter((message) => webhookEventOf(message) !== null);
  const attempts = await until('all webhooks', () => {
    const received = receiver.attemptsOn(path);
    const keys = new Set(received.map(({ headers }) => headers['x-idempotency-key']));
    return expected.every(({ id }) => keys.has(id)) && received;
  });
  story.line(`${attempts.length} webhooks came for ${expected.length} events`);
  const verifies = (attempt: Attempt): boolean => {
    try {
      return verified(attempt, secret) !== null;
    } catch {
      return false;
    }
  };
  story.holds('each one verifies by standardwebhooks and by x-signature', attempts.every(verifies));
  story.holds(
    'each one says what Kafka said',
    attempts.every(({ headers, rawBody }) => {
      const message = told.get(headers['x-idempotency-key']!);
      const { event, data } = JSON.parse(rawBody) as WebhookPayload;
      const same = JSON.stringify(data) === JSON.stringify(message?.data.resource);
      return message !== undefined && event === webhookEventOf(message) && same;
    }),
  );
};
