import { type DomainMessage, fromMinor, Order, Payment, toMinor, webhookEventOf } from '@cpg/contracts';
import { EventStoreDBClient } from '@eventstore/db-client';
import { isDeepStrictEqual } from 'node:util';
import type { Api } from '../harness/api.ts';
import type { KafkaLog } from '../harness/kafka-log.ts';
import { ledgerOf, ledgerShown } from '../harness/ledger.ts';
import { readOrderStream } from '../harness/order-stream.ts';
import { serviceAdmin } from '../harness/service-admin.ts';
import type { Attempt, Receiver } from '../harness/receiver.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { until } from '../harness/until.ts';
import type { Acknowledged, Stands } from './shoppers.ts';

export interface Evidence {
  readonly stack: StackFiles;
  readonly api: Api;
  readonly acknowledged: readonly Acknowledged[];
  readonly kafka: KafkaLog;
  readonly receiver: Receiver;
  /** The path of the endpoint. */
  readonly hook: string;
}

const ALL_TOLD_WITHIN_MS = 120_000;

/** What is wrong after the trouble: a sentence for each thing, none when all is well. Waits until everybody was told everything. */
export const faultsIn = async (evidence: Evidence): Promise<string[]> => {
  const { stack, api, acknowledged } = evidence;
  const store = EventStoreDBClient.connectionString(stack.eventstoreUrl);
  try {
    const orders = await walk(api, 'orders', (item) => Order.parse(item));
    const payments = await walk(api, 'payments', (item) => Payment.parse(item));
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

/** Every acknowledged order and payment is there, once, as it has to be, and nothing else is. */
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
  for (const { reference, orderId, story, status, payments: expected } of kept) {
    const found = listed.get(reference) ?? [];
    const [order] = found;
    if (found.length !== 1 || order!.id !== orderId) {
      faults.push(`${orderId} (${story}) is listed ${found.length} times`);
      continue;
    }
    if (order!.status !== status) faults.push(`${orderId} (${story}) is ${order!.status}, not ${status}`);
    const shown = new Map(order!.payments.map((payment) => [payment.tx_hash!, standsOf(payment)]));
    if (!isDeepStrictEqual(shown, new Map([...expected].map(([hash, stands]) => [hash, inFull(stands)]))))
      faults.push(`${orderId} (${story}) has other payments: ${JSON.stringify([...shown.values()])}`);
  }
  if (orders.length !== kept.length)
    faults.push(`${orders.length} orders are listed, ${kept.length} were acknowledged`);

  const own = new Map(orders.flatMap((order) => order.payments).map((payment) => [payment.id, payment]));
  for (const payment of payments) {
    if (!isDeepStrictEqual(payment, own.get(payment.id)))
      faults.push(`${payment.id} is not the same in its order: ${JSON.stringify([payment, own.get(payment.id)])}`);
    const lost = lostMinor(payment);
    if (lost !== 0n) faults.push(`${fromMinor(lost, payment.currency)} of ${payment.id} are nowhere`);
  }
  if (payments.length !== own.size) faults.push(`${payments.length} payments are listed, the orders have ${own.size}`);
  return faults;
};

const standsOf = (payment: Payment): Required<Stands> => ({
  paid: Number(payment.paid_amount),
  status: payment.status,
  applied: Number(payment.applied_amount ?? 0),
  unapplied: Number(payment.unapplied_amount ?? 0),
  refunded: Number(payment.refunded_amount ?? 0),
});

const inFull = (stands: Stands): Required<Stands> => ({ applied: 0, unapplied: 0, refunded: 0, ...stands });

/** What was paid and is in none of the places where it may be, or in two. */
const lostMinor = (payment: Payment): bigint => {
  const minor = (amount = '0') => toMinor(amount, payment.currency);
  const paid = minor(payment.paid_amount);
  if (minor(payment.fee_amount) + minor(payment.net_amount) !== paid) return paid;
  if (payment.status !== 'applied') return 0n; // All that is not refunded is received, orphaned or failed: the status says so.
  return paid - minor(payment.applied_amount) - minor(payment.unapplied_amount) - minor(payment.refunded_amount);
};

/** The stream, its fold, the row, Kafka and the webhooks of one order agree. */
const faultsOfOrder = async (evidence: Evidence, store: EventStoreDBClient, order: Order): Promise<string[]> => {
  const { api, kafka } = evidence;
  const about = (what: string) => `${order.id}: ${what}`;
  const stored = await readOrderStream(store, order.id);
  if (!stored) return [about('is listed, and its stream is deleted')];
  const faults: string[] = [];
  const ledger = ledgerOf(stored.map(({ event }) => event));
  if (!isDeepStrictEqual(ledger, ledgerShown(order)))
    faults.push(about(`its events add up to ${JSON.stringify(ledger)}, not ${JSON.stringify(ledgerShown(order))}`));
  if (!isDeepStrictEqual(await api.order(order.id), order))
    faults.push(about('the list shows another state than itself'));

  const messages = await toldInFull(kafka, order.id, stored.length);
  faults.push(...faultsOfSequence(messages, stored.length));
  if (!isDeepStrictEqual(messages.at(-1)?.data.resource, order)) faults.push(about('Kafka ends with another state'));
  const told = [...messages];
  for (const payment of order.payments) {
    const own = await kafka.waitFor(payment.id, (some) => isDeepStrictEqual(some.at(-1)!.data.resource, payment));
    faults.push(...faultsOfSequence(own, own.length));
    told.push(...own);
  }
  faults.push(...(await unheard(evidence, order.id, told)).map(about));
  return faults;
};

const toldInFull = (kafka: KafkaLog, id: string, count: number): Promise<DomainMessage[]> =>
  kafka.waitFor(id, (messages) => messages.length >= count);

const faultsOfSequence = (messages: readonly DomainMessage[], count: number): string[] => {
  const numbers = messages.map(({ sequence }) => Number(sequence));
  const whole = numbers.length === count && numbers.every((number, index) => number === index);
  return whole ? [] : [`${messages[0]?.subject}: Kafka tells of the events ${numbers.join(', ')} of ${count}`];
};

/** Events that the merchant was not told of. */
const unheard = async (evidence: Evidence, orderId: string, told: readonly DomainMessage[]): Promise<string[]> => {
  const due = told.filter((message) => webhookEventOf(message) !== null).map(({ id }) => id);
  const missing = () => {
    const heard = keysOf(evidence);
    return due.filter((id) => !heard.has(id));
  };
  try {
    await until(`the webhooks of ${orderId}`, () => missing().length === 0, { withinMs: ALL_TOLD_WITHIN_MS });
    return [];
  } catch {
    return missing().map((id) => `no webhook ever told of ${id}`);
  }
};

const keysOf = ({ receiver, hook }: Evidence): Set<string> =>
  new Set(receiver.attemptsOn(hook).map(({ headers }) => headers['x-idempotency-key']!));

/** Every event has the same bytes each time. */
const faultsOfAttempts = ({ receiver, hook }: Evidence): string[] => {
  const first = new Map<string, Attempt>();
  return receiver.attemptsOn(hook).flatMap((attempt) => {
    const key = attempt.headers['x-idempotency-key']!;
    const earlier = first.get(key) ?? attempt;
    first.set(key, earlier);
    return attempt.rawBody === earlier.rawBody ? [] : [`${key} was delivered with other bytes`];
  });
};

/** Every event follows the one before it, and every row of the read models is what a replay of the log makes. */
const faultsOfRecords = async (stack: StackFiles): Promise<string[]> => {
  const faults: string[] = [];
  for (const name of ['orders', 'payments'] as const) {
    const { code, said } = await serviceAdmin(stack, name, 'audit verify').outcome();
    if (code !== 0) faults.push(`the records of ${name} are not what they should be: ${said}`);
  }
  return faults;
};

const faultsOfDeletion = async ({ api, kafka }: Evidence, store: EventStoreDBClient, id: string): Promise<string[]> => {
  const faults: string[] = [];
  if ((await api.send('GET', `/v1/orders/${id}`)).status !== 404) faults.push(`${id} was deleted, and answers`);
  if ((await readOrderStream(store, id)) !== null) faults.push(`${id} was deleted, and its stream is there`);
  await kafka.waitFor(id, (messages) => messages.some(({ type }) => type === 'order.deleted'));
  return faults;
};

const walk = async <T>(api: Api, list: 'orders' | 'payments', parse: (item: unknown) => T): Promise<T[]> => {
  const items: T[] = [];
  for (let page = 1; ; page += 1) {
    const found = await api[list]({ limit: 100, sort: 'asc', page });
    items.push(...found.items.map(parse));
    if (found.page >= found.totalPages) return items;
  }
};
