import { isDeepStrictEqual } from 'node:util';
import { decimalsIn, type DomainMessage, fromMinor, Order, Payment, toMinor, webhookEventsOf } from '@cpg/contracts';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Api } from '../harness/api.ts';
import type { KafkaLog } from '../harness/kafka-log.ts';
import { ledgerFromApi, ledgerFromEvents, readOrderStream } from '../harness/order-stream.ts';
import type { Attempt, Receiver } from '../harness/receiver.ts';
import { serviceAdmin } from '../harness/services.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { until } from '../harness/until.ts';
import type { Acknowledged, ExpectedPayment } from './scenarios.ts';

export interface Evidence {
  readonly stack: StackFiles;
  readonly api: Api;
  readonly acknowledged: readonly Acknowledged[];
  readonly kafka: KafkaLog;
  readonly receiver: Receiver;
  /** The path of the webhook endpoint. */
  readonly hook: string;
}

const DELIVERED_WITHIN_MS = 120_000;

/** Waits until Kafka and webhooks have every event, then returns a sentence for each inconsistency. */
export const faultsIn = async (evidence: Evidence): Promise<string[]> => {
  const { stack, api, acknowledged } = evidence;
  const store = EventStoreDBClient.connectionString(stack.eventstoreUrl);
  try {
    const { orders, payments } = await consistentLists(api);
    const perOrder: string[] = [];
    for (const order of orders) perOrder.push(...(await faultsOfOrder(evidence, store, order)));
    const perDeletion: string[] = [];
    for (const { status, orderId } of acknowledged)
      if (status === null) perDeletion.push(...(await faultsOfDeletion(evidence, store, orderId)));
    return [
      ...faultsOfLists(acknowledged, orders, payments),
      ...perOrder,
      ...perDeletion,
      ...(await faultsOfRecords(stack)),
      ...evidence.kafka.faults(),
      ...faultsOfAttempts(evidence),
    ];
  } finally {
    await store.dispose();
  }
};

/** Checks that the stream, the API, Kafka and the webhooks of one order agree. */
const faultsOfOrder = async (evidence: Evidence, store: EventStoreDBClient, order: Order): Promise<string[]> => {
  const { api, kafka } = evidence;
  const ofOrder = (fault: string) => `${order.id}: ${fault}`;
  const stored = await readOrderStream(store, order.id);
  if (!stored) return [ofOrder('is listed, but its stream is deleted')];
  const faults: string[] = [];
  const ledger = ledgerFromEvents(stored.map(({ event }) => event));
  if (!isDeepStrictEqual(ledger, ledgerFromApi(order)))
    faults.push(ofOrder(`its events add up to ${JSON.stringify(ledger)}, not ${JSON.stringify(ledgerFromApi(order))}`));
  if (!isDeepStrictEqual(await api.order(order.id), order)) faults.push(ofOrder('the list and GET by id differ'));

  const messages = await allMessages(kafka, order.id, stored.length);
  faults.push(...faultsOfSequence(messages, stored.length));
  if (!isDeepStrictEqual(messages.at(-1)?.data.resource, order))
    faults.push(ofOrder('the last Kafka message has another state'));
  const published = [...messages];
  for (const payment of order.payments) {
    const own = await kafka.waitFor(payment.id, (some) => isDeepStrictEqual(some.at(-1)!.data.resource, payment));
    faults.push(...faultsOfSequence(own, own.length));
    published.push(...own);
  }
  faults.push(...(await undelivered(evidence, order.id, published)).map(ofOrder));
  return faults;
};

const allMessages = (kafka: KafkaLog, id: string, count: number): Promise<DomainMessage[]> =>
  kafka.waitFor(id, (messages) => messages.length >= count);

const faultsOfSequence = (messages: readonly DomainMessage[], count: number): string[] => {
  const numbers = messages.map(({ sequence }) => Number(sequence));
  const complete = numbers.length === count && numbers.every((number, index) => number === index);
  return complete ? [] : [`${messages[0]?.subject}: Kafka has the events ${numbers.join(', ')} of ${count}`];
};

/** Checks that the merchant's endpoint received every event. */
const undelivered = async (
  evidence: Evidence,
  orderId: string,
  published: readonly DomainMessage[],
): Promise<string[]> => {
  const due = published.filter((message) => webhookEventsOf(message).length > 0).map(({ id }) => id);
  const missing = () => {
    const received = keysOf(evidence);
    return due.filter((id) => !received.has(id));
  };
  try {
    await until(`the webhooks of ${orderId}`, () => missing().length === 0, { withinMs: DELIVERED_WITHIN_MS });
    return [];
  } catch {
    return missing().map((id) => `event ${id} was not delivered`);
  }
};

const keysOf = ({ receiver, hook }: Evidence): Set<string> =>
  new Set(receiver.attemptsOn(hook).map(({ headers }) => headers['x-idempotency-key']!));

/** Checks that repeated deliveries of an event have the same bytes. */
const faultsOfAttempts = ({ receiver, hook }: Evidence): string[] => {
  const first = new Map<string, Attempt>();
  return receiver.attemptsOn(hook).flatMap((attempt) => {
    const key = attempt.headers['x-idempotency-key']!;
    const earlier = first.get(key) ?? attempt;
    first.set(key, earlier);
    return attempt.rawBody === earlier.rawBody ? [] : [`${key} was delivered with other bytes`];
  });
};

/** Checks the hash chains and the read models with `audit verify`. */
const faultsOfRecords = async (stack: StackFiles): Promise<string[]> => {
  const faults: string[] = [];
  for (const name of ['orders', 'payments'] as const) {
    const { code, output } = await serviceAdmin(stack, name, 'audit verify').outcome();
    if (code !== 0) faults.push(`audit verify of ${name} failed: ${output}`);
  }
  return faults;
};

const faultsOfDeletion = async ({ api, kafka }: Evidence, store: EventStoreDBClient, id: string): Promise<string[]> => {
  const faults: string[] = [];
  if ((await api.send('GET', `/v1/orders/${id}`)).status !== 404) faults.push(`${id} was deleted but is found`);
  if ((await readOrderStream(store, id)) !== null) faults.push(`${id} was deleted but its stream exists`);
  await kafka.waitFor(id, (messages) => messages.some(({ type }) => type === 'order.deleted'));
  return faults;
};

/** Orders learn of refunds from Kafka, after a crash with a delay. Waits until both lists agree; after the limit
 *  returns them as they are, and the checks report the differences. */
const consistentLists = async (api: Api) => {
  const read = async () => ({
    orders: await listAll(api, 'orders', (item) => Order.parse(item)),
    payments: await listAll(api, 'payments', (item) => Payment.parse(item)),
  });
  const agree = ({ orders, payments }: Awaited<ReturnType<typeof read>>) => {
    const byId = new Map(orders.flatMap((order) => order.payments).map((payment) => [payment.id, payment]));
    return payments.every((payment) => isDeepStrictEqual(payment, byId.get(payment.id)));
  };
  const found = until('lists that agree', async () => [await read()].find(agree), { withinMs: DELIVERED_WITHIN_MS });
  return found.catch(read);
};

const listAll = async <T>(api: Api, list: 'orders' | 'payments', parse: (item: unknown) => T): Promise<T[]> => {
  const items: T[] = [];
  for (let page = 1; ; page += 1) {
    const found = await api[list]({ limit: 100, sort: 'asc', page });
    items.push(...found.items.map(parse));
    if (found.page >= found.totalPages) return items;
  }
};

/** Checks that exactly the acknowledged orders and payments are listed, each once and in the expected state. */
const faultsOfLists = (
  acknowledged: readonly Acknowledged[],
  orders: readonly Order[],
  payments: readonly Payment[],
) => {
  const faults: string[] = [];
  const kept = acknowledged.filter(({ status }) => status !== null);
  const listed = new Map<string, Order[]>();
  for (const order of orders)
    listed.set(order.external_reference_id, [...(listed.get(order.external_reference_id) ?? []), order]);
  for (const { reference, orderId, scenario, status, payments: expected } of kept) {
    const found = listed.get(reference) ?? [];
    const [order] = found;
    if (found.length !== 1 || order!.id !== orderId) {
      faults.push(`${orderId} (${scenario}) is listed ${found.length} times`);
      continue;
    }
    if (order!.status !== status) faults.push(`${orderId} (${scenario}) is ${order!.status}, not ${status}`);
    const shown = new Map(order!.payments.map((payment) => [payment.tx_hash!, actualPayment(payment)]));
    if (!isDeepStrictEqual(shown, new Map([...expected].map(([hash, payment]) => [hash, withDefaults(payment)]))))
      faults.push(`${orderId} (${scenario}) has other payments: ${JSON.stringify([...shown.values()])}`);
  }
  if (orders.length !== kept.length)
    faults.push(`${orders.length} orders are listed, ${kept.length} were acknowledged`);

  const own = new Map(orders.flatMap((order) => order.payments).map((payment) => [payment.id, payment]));
  for (const payment of payments) {
    if (!isDeepStrictEqual(payment, own.get(payment.id)))
      faults.push(`${payment.id} differs from its order: ${JSON.stringify([payment, own.get(payment.id)])}`);
    const unaccounted = unaccountedMinor(payment);
    if (unaccounted !== 0n)
      faults.push(`${fromMinor(unaccounted, decimalsIn(payment.paid_amount))} of ${payment.id} are unaccounted for`);
  }
  if (payments.length !== own.size) faults.push(`${payments.length} payments are listed, the orders have ${own.size}`);
  return faults;
};

const actualPayment = (payment: Payment): Required<ExpectedPayment> => ({
  paid: Number(payment.paid_amount),
  status: payment.status,
  applied: Number(payment.applied_amount ?? 0),
  unapplied: Number(payment.unapplied_amount ?? 0),
  refunded: Number(payment.refunded_amount ?? 0),
});

const withDefaults = (payment: ExpectedPayment): Required<ExpectedPayment> => ({
  applied: 0,
  unapplied: 0,
  refunded: 0,
  ...payment,
});

/** The paid amount that is not accounted for: negative if some is counted twice. */
const unaccountedMinor = (payment: Payment): bigint => {
  const minor = (amount = '0') => toMinor(amount, decimalsIn(payment.paid_amount));
  const paid = minor(payment.paid_amount);
  if (minor(payment.fee_amount) + minor(payment.net_amount) !== paid) return paid;
  if (payment.status !== 'applied') return 0n; // The status covers the whole amount.
  return paid - minor(payment.applied_amount) - minor(payment.unapplied_amount) - minor(payment.refunded_amount);
};
