import { deletionStreamOf, NewOrderEvent, OrderEvent, orderStreamOf, PaymentEvent } from '@cpg/contracts';
import {
  append,
  commandHandler,
  endOf,
  endOfLog,
  lastEvent,
  linkEvents,
  tombstone,
  verifyHashChains,
} from '@cpg/event-sourcing';
import { createServiceMetrics, type Logger, newId } from '@cpg/platform';
import type { OrderCommand } from '../../../orders/src/order/command.ts';
import { orderDecider } from '../../../orders/src/order/order.ts';
import { createOrder, offer } from '../../../orders/src/testing/orders.ts';
import { paymentIdOf, paymentStreamOf } from '../payment/identity.ts';
import { CONTEXT, MERCHANT, until } from '../testing/jest-fixtures.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { booksCheck, startBooksCheck } from './books-check.ts';
import { compareStreams, verifyBooks } from './compare-streams.ts';

const AMOUNT = 10_000_000n;
const { signal } = new AbortController();
const at = new Date('2026-01-31T12:01:00.000Z');

let service: PaymentsService;
let orders: ReturnType<typeof ordersOn>;
beforeEach(async () => {
  service = await startPayments();
  orders = ordersOn(service);
});
afterEach(() => service.stop());

const ordersOn = ({ client }: PaymentsService) =>
  commandHandler({
    client,
    decider: orderDecider,
    schema: OrderEvent,
    newEvent: NewOrderEvent,
    streamOf: orderStreamOf,
  });

const receive = (orderId: string, paymentId = paymentIdOf('gateway_pay', orderId)) => ({
  type: 'ReceivePayment' as const,
  paymentId,
  merchantId: MERCHANT,
  orderId,
  rail: 'gateway_pay' as const,
  providerId: orderId,
  currency: 'USDC' as const,
  decimals: 6,
  amountMinor: AMOUNT,
  feeMinor: 0n,
  feeSchedule: 'test',
  confirmed: true,
  seenAt: at,
  at,
});

/** An order that a payment paid. */
const paidOrder = async (): Promise<{ orderId: string; paymentId: string }> => {
  const orderId = newId('order');
  const paymentId = paymentIdOf('gateway_pay', orderId);
  await orders.handle(orderId, createOrder({ orderId, merchantId: MERCHANT }), CONTEXT);
  await service.handler.handle(paymentId, receive(orderId), CONTEXT);
  await orders.handle(orderId, offer(1, AMOUNT, { paymentId, providerId: orderId }), CONTEXT);
  const outcome = { status: 'applied', appliedMinor: AMOUNT, unappliedMinor: 0n, at } as const;
  await service.handler.handle(paymentId, { type: 'RecordOutcome', outcome }, CONTEXT);
  return { orderId, paymentId };
};

/** Appends an event that no rule decided, with the right hash. */
const forge = async (paymentId: string, event: PaymentEvent): Promise<void> => {
  const stream = paymentStreamOf(paymentId);
  const last = await lastEvent(service.client, stream, PaymentEvent);
  const end = { revision: last!.revision, hash: last!.metadata.hash };
  const events = linkEvents([event], stream, end, CONTEXT, { causationId: 'forged' });
  expect(await append(service.client, stream, events, end.revision)).toBe('appended');
};
const forgedApplication = (orderId: string, appliedMinor = '12000000'): PaymentEvent => ({
  type: 'PaymentApplied',
  data: { orderId, appliedMinor, unappliedMinor: '0', at: at.toISOString() },
});

const failed = (paymentId: string, orderId: string): OrderCommand => {
  const { payment } = offer(1, AMOUNT, { paymentId, providerId: orderId }) as Extract<
    OrderCommand,
    { type: 'OfferPayment' }
  >;
  return { type: 'FailPayment', payment, failureReason: 'reorg', failedAt: at, at };
};

const loggedBy = () => {
  const errors: object[] = [];
  const ignore = () => {};
  const log = { error: (where: object) => void errors.push(where), warn: ignore, info: ignore } as unknown as Logger;
  return { errors, log };
};
type Client = PaymentsService['client'];
/** The same event store, with another method `name`. It gets the real method. */
const intercepted = <Name extends 'readStream' | 'readAll'>(
  of: Client,
  name: Name,
  replace: (real: Client[Name]) => (...given: Parameters<Client[Name]>) => unknown,
): Client =>
  new Proxy(of, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      const bound = value.bind(target) as Client[Name];
      return key === name ? replace(bound) : bound;
    },
  });
/** The same event store, and the streams that were read of it. */
const countingReads = (of: Client) => {
  const reads: string[] = [];
  const client = intercepted(of, 'readStream', (read) => (...given) => {
    reads.push(given[0]);
    return read(...given);
  });
  return { client, reads };
};
const differencesIn = async () =>
  (await service.pool.query('select order_id, payment_id, kind, looks from payments.books_differences')).rows;

test('an event forged with the right hash passes the chain, and the comparison names it', async () => {
  const [{ orderId, paymentId }] = [await paidOrder(), await paidOrder(), await paidOrder()];
  expect(await verifyBooks(service.client, { signal })).toEqual({
    lines: [
      'orders and payments: 3 applied payments, all agree with their orders; no stream that they name is missing',
    ],
    faults: 0,
  });
  const check = booksCheck({ client: service.client, db: service.pool, ...loggedBy() });
  await check.look(signal);
  expect(await check.state()).toMatchObject({ persistent: new Map(), completedAt: expect.any(Date) });

  const since = await endOfLog(service.client);
  await forge(paymentId, forgedApplication(orderId));
  expect(await verifyHashChains(service.client, { prefixes: ['order-', 'payment-'], signal })).toMatchObject({
    faults: 0,
  });
  const verified = await verifyBooks(service.client, { signal, standsMs: 1 });
  expect(verified.faults).toBe(1);
  expect(verified.lines[0]).toBe(
    `payment-${paymentId}, event 2: appliedMinor is 12000000, but 10000000 by order-${orderId}, event 2`,
  );
  expect(verified.lines.at(-1)).toContain('keep a copy of the event store first');
  const later = await verifyBooks(service.client, { since, signal, standsMs: 1 });
  expect(later).toMatchObject({ faults: 1, lines: [verified.lines[0], expect.stringMatching(/ in [12] applied /)] });
});

test('a difference counts and is logged once it stands for five looks', async () => {
  const { orderId, paymentId } = await paidOrder();
  await forge(paymentId, forgedApplication(newId('order'), String(AMOUNT)));
  const { errors, log } = loggedBy();
  const check = booksCheck({ client: service.client, db: service.pool, log });
  for (let look = 1; look <= 4; look += 1) await check.look(signal);
  expect((await check.state()).persistent).toEqual(new Map());
  expect(errors).toEqual([]);
  for (let look = 5; look <= 7; look += 1) await check.look(signal);
  // The order names the payment, and the order that the payment names does not exist.
  expect((await check.state()).persistent).toEqual(
    new Map([
      ['order', 1],
      ['unnamed', 1],
    ]),
  );
  expect(errors).toHaveLength(2);
  expect(errors).toContainEqual(expect.objectContaining({ orderId, paymentId, kind: 'order' }));
});

test('a payment whose stream is gone is named, also if its order never took it', async () => {
  const orderId = newId('order');
  const paymentId = paymentIdOf('gateway_pay', orderId);
  await orders.handle(orderId, createOrder({ orderId, merchantId: MERCHANT }), CONTEXT);
  await service.handler.handle(paymentId, receive(orderId), CONTEXT);
  await orders.handle(orderId, offer(1, AMOUNT, { paymentId, providerId: orderId, confirmed: false }), CONTEXT);
  expect(await verifyBooks(service.client, { signal })).toMatchObject({ faults: 0 });
  await tombstone(service.client, paymentStreamOf(paymentId));
  const { faults, lines } = await verifyBooks(service.client, { signal, standsMs: 1 });
  expect([faults, lines[0]]).toEqual([
    1,
    `order-${orderId}, event 1: status is received, but payment-${paymentId} is deleted`,
  ]);
});

test('an order that was deleted without a record is named, and one with a record is not', async () => {
  const { orderId } = await paidOrder();
  await tombstone(service.client, orderStreamOf(orderId));
  const { faults, lines } = await verifyBooks(service.client, { signal, standsMs: 1 });
  expect([faults, lines[0]]).toEqual([
    1,
    `order-${orderId} is deleted, but deletion-${orderId}, which would say so, does not exist`,
  ]);
  const stream = deletionStreamOf(orderId);
  const record = {
    orderId,
    merchantId: MERCHANT,
    actor: 'key:x',
    lastHash: 'x',
    paymentIds: [],
    sequence: 4,
    payables: [],
    at: at.toISOString(),
  };
  const events = linkEvents([{ type: 'OrderDeletionRecorded', data: record }], stream, endOf(stream, null), CONTEXT, {
    causationId: 'x',
  });
  await append(service.client, stream, events, -1);
  // The order has its record. Its payment still says that it is applied to it.
  expect((await verifyBooks(service.client, { signal, standsMs: 1 })).lines[0]).toContain(
    `status is applied, but order-${orderId} is deleted`,
  );
});

test('an event that cannot be read is a difference, and hides no other order', async () => {
  const [unreadable, forged] = [await paidOrder(), await paidOrder()];
  await forge(unreadable.paymentId, forgedApplication(unreadable.orderId, 'ten'));
  await forge(forged.paymentId, forgedApplication(forged.orderId));
  const { faults, lines } = await verifyBooks(service.client, { signal, standsMs: 1 });
  expect(faults).toBe(2);
  expect(lines).toContainEqual(expect.stringContaining(`stream payment-${unreadable.paymentId} cannot be read`));
});

test('money in flight is no difference that stands, and is gone once the order learns of it', async () => {
  const { orderId, paymentId } = await paidOrder();
  await service.handler.handle(paymentId, { type: 'FailPayment', failureReason: 'reorg', at }, CONTEXT);
  const { errors, log } = loggedBy();
  const check = booksCheck({ client: service.client, db: service.pool, log });
  await check.look(signal);
  expect(await differencesIn()).toEqual([{ order_id: orderId, payment_id: paymentId, kind: 'status', looks: 1 }]);
  await orders.handle(orderId, failed(paymentId, orderId), CONTEXT);
  await check.look(signal);
  expect(await differencesIn()).toEqual([]);
  expect(errors).toEqual([]);
});

test('a comparison of all waits for money in flight', async () => {
  const { orderId, paymentId } = await paidOrder();
  await service.handler.handle(paymentId, { type: 'FailPayment', failureReason: 'reorg', at }, CONTEXT);
  const { client, reads } = countingReads(service.client);
  const verifying = verifyBooks(client, { signal, standsMs: 3_600_000 });
  // An order is read before its payments: the first comparison does not see the order learn of the failure.
  await until(async () => reads.includes(paymentStreamOf(paymentId)));
  await orders.handle(orderId, failed(paymentId, orderId), CONTEXT);
  expect(await verifying).toEqual({
    lines: [
      'orders and payments: 1 applied payments, all agree with their orders; no stream that they name is missing',
    ],
    faults: 0,
  });
});

test('a comparison of all ends when it is aborted', async () => {
  const { orderId, paymentId } = await paidOrder();
  await forge(paymentId, forgedApplication(orderId));
  const { client, reads } = countingReads(service.client);
  const stopping = new AbortController();
  const verifying = verifyBooks(client, { signal: stopping.signal, standsMs: 3_600_000 });
  const refused = expect(verifying).rejects.toMatchObject({ name: 'AbortError' });
  await until(async () => reads.filter((stream) => stream === orderStreamOf(orderId)).length === 2);
  stopping.abort();
  await refused;
});

test('a look reads a part of the event store, and a later process goes on there', async () => {
  const paid = [];
  for (let n = 0; n < 8; n += 1) paid.push(await paidOrder());
  const last = paid.at(-1)!;
  await forge(last.paymentId, forgedApplication(last.orderId));
  const look = async () => {
    const check = booksCheck({ client: service.client, db: service.pool, maxEntries: 12, ...loggedBy() });
    await check.look(signal);
    return { found: (await differencesIn()).length, completedAt: (await check.state()).completedAt };
  };
  expect(await look()).toEqual({ found: 0, completedAt: null });
  let looks = 1;
  while ((await look()).completedAt === null) looks += 1;
  expect(looks).toBeGreaterThan(3);
  expect(await differencesIn()).not.toEqual([]);
});

test('begins anew where the event store is another one, and after its end', async () => {
  const { orderId, paymentId } = await paidOrder();
  const check = booksCheck({ client: service.client, db: service.pool, ...loggedBy() });
  await service.pool.query('update payments.books_check set position = $1, ends_at = $1', [
    { commit: '999999999', prepare: '999999999', event: { id: 'gone', stream: 'order-gone' } },
  ]);
  await forge(paymentId, forgedApplication(orderId));
  await check.look(signal);
  expect(await differencesIn()).not.toEqual([]);
  await check.look(signal);
  expect(await differencesIn()).toContainEqual(expect.objectContaining({ looks: 2 }));
});

test('goes on behind an event whose stream was deleted since', async () => {
  const { paymentId } = await paidOrder();
  const check = booksCheck({ client: service.client, db: service.pool, maxEntries: 2, ...loggedBy() });
  const position = async () =>
    (await service.pool.query('select position from payments.books_check')).rows[0].position as {
      commit: string;
      event: { stream: string };
    } | null;
  do await check.look(signal);
  while ((await position())?.event.stream !== paymentStreamOf(paymentId));
  const before = await position();
  await service.client.tombstoneStream(paymentStreamOf(paymentId));
  await check.look(signal);
  expect(BigInt((await position())?.commit ?? 0)).toBeGreaterThan(BigInt(before!.commit));
});

test('compares no more orders at once than asked for', async () => {
  const paid = [await paidOrder(), await paidOrder(), await paidOrder()];
  const claims = paid.map((each) => ({ ...each, isApplied: true }));
  let reading = 0;
  let most = 0;
  const client = intercepted(service.client, 'readStream', (read) => (...given) => {
    const stream = read(...given);
    most = Math.max(most, (reading += 1));
    stream.once('close', () => (reading -= 1));
    return stream;
  });
  expect(await compareStreams(client, claims, { concurrency: 1, signal })).toEqual([]);
  expect(most).toBe(1);
});

test('the metrics say what stands, and when the comparison was complete', async () => {
  const { paymentId } = await paidOrder();
  await forge(paymentId, forgedApplication(newId('order'), String(AMOUNT)));
  const metrics = createServiceMetrics({ totals: () => ({}) });
  const { databaseUrl } = service.subscription;
  const running = startBooksCheck({
    client: service.client,
    db: service.pool,
    databaseUrl,
    metrics,
    now: () => at,
    everyMs: 1,
    ...loggedBy(),
  });
  try {
    await until(async () => (await metrics.metrics()).includes('books_differences{kind="order"} 1'));
    expect(await metrics.metrics()).toMatch(/^books_differences\{kind="missing"\} 0$/m);
    expect(await metrics.metrics()).toMatch(/^books_complete_timestamp_seconds \d/m);
    expect(await metrics.metrics()).toContain(`books_checked_timestamp_seconds ${at.getTime() / 1_000}\n`);
  } finally {
    await running.stop();
  }
  // Another process has the metrics now.
  expect(await metrics.metrics()).not.toMatch(/^books_differences\{/m);
});

test('a look that fails is logged, and the next one goes on', async () => {
  await paidOrder();
  let failures = 0;
  const client = intercepted(service.client, 'readAll', (read) => (...given) => {
    if (failures++ === 0) throw new Error('a fault of the first look');
    return read(...given);
  });
  const warnings: string[] = [];
  const log = { ...loggedBy().log, warn: (_: object, text: string) => void warnings.push(text) } as Logger;
  const { databaseUrl } = service.subscription;
  const metrics = createServiceMetrics({ totals: () => ({}) });
  const running = startBooksCheck({ client, db: service.pool, databaseUrl, metrics, now: () => at, everyMs: 1, log });
  try {
    await until(async () => (await metrics.metrics()).includes('books_complete_timestamp_seconds '));
    await until(
      async () =>
        (await service.pool.query('select from payments.books_check where completed_at is not null')).rowCount,
    );
  } finally {
    await running.stop();
  }
  expect(warnings).toEqual(['orders and payments were not compared, trying again']);
});
