import type { AddressInfo } from 'node:net';
import type { ProviderPayment } from '@cpg/contracts';
import { plannedFaults } from '@cpg/embedded-eventstore/testing';
import { createApp, createLogger, internalClient, newId } from '@cpg/platform';
import { paymentsClient } from '../../../../gateway/src/api/payments/payments-client.ts';
import { providerPaymentRoutes } from '../../../../gateway/src/api/providers/provider-routes.ts';
import { paymentIdOf } from '../../payment/identity.ts';
import { applied, MERCHANT, TOKENS, until } from '../../testing/jest-fixtures.ts';
import { page } from '../../testing/jest-order-events.ts';
import { type PaymentsService, startPayments } from '../../testing/jest-payments.ts';
import { startReferenceProvider } from '../../testing/jest-reference-provider.ts';
import { httpProvider } from './http-provider.ts';
import { lostCallbacks, QUERY_AGES_MS } from './lost-callbacks.ts';

const SECRET = 'a secret of the provider, thirty-two characters';
const OLDER = 'the secret before the rotation, thirty-two long';
const log = createLogger({ name: 'providers', level: 'silent' });
const now = () => new Date();
const faults = plannedFaults();

let provider: Awaited<ReturnType<typeof startReferenceProvider>>;
let payments: PaymentsService;
let acme: ReturnType<typeof httpProvider>;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  provider = await startReferenceProvider(SECRET);
  const gateway = createApp({ log });
  const forward: ReturnType<typeof paymentsClient>['receiveCallback'] = (...args) =>
    paymentsClient(client).receiveCallback(...args);
  await gateway.register(providerPaymentRoutes, { prefix: '/v1', payments: { receiveCallback: forward } as never });
  const publicUrl = await gateway.listen({ port: 0, host: '127.0.0.1' });
  acme = httpProvider({
    name: 'acme',
    url: provider.url,
    currencies: ['USDC'],
    secrets: [SECRET, OLDER],
    publicUrl,
    now,
  });
  payments = await startPayments({ providers: [acme], appendFaults: faults.faultOf });
  await payments.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = payments.app.server.address() as AddressInfo;
  const client = internalClient({ name: 'payments', url: `http://127.0.0.1:${port}`, tokens: TOKENS.gateway });
  closing.push(
    () => gateway.close(),
    () => client.close(),
    () => payments.stop(),
    () => acme.close(),
    provider.stop,
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

let paid = 0;
/** An order with a payment page, and the provider's payment of it. */
const payOrder = async (changes: Partial<ProviderPayment> = {}) => {
  const orderId = changes.order_id ?? (await payments.createOrder(applied, [page(`REF${(paid += 1)}`)]));
  await acme.registerOrder({ orderId, merchantId: MERCHANT, currency: 'USDC', decimals: 6, amountMinor: 10_000_000n });
  const external_reference_id = `acme-${(paid += 1)}`;
  return { order_id: orderId, external_reference_id, amount: '10', currency: 'USDC' as const, ...changes };
};
const idOf = ({ external_reference_id: id }: ProviderPayment) => paymentIdOf('gateway_pay', `acme:${id}`);

test('registers an order with the provider, signed, and shows its page', async () => {
  const money = { currency: 'USDC' as const, decimals: 6, amountMinor: 1n };
  const order = { orderId: newId('order'), merchantId: MERCHANT, ...money };
  const shown = await acme.registerOrder(order);
  expect(shown).toEqual({
    reference: `REF-${order.orderId}`,
    paymentUrl: `https://pay.example/REF-${order.orderId}`,
    qrContent: 'qr',
  });
  expect(await acme.registerOrder(order)).toEqual(shown);
});

test('a callback pays its order once it is recorded, and a repeat is the same payment', async () => {
  const payment = await payOrder();
  const answer = { status: 200, body: { payment_id: idOf(payment), status: 'applied', has_order: true } };
  expect(await provider.send(payment)).toEqual(answer);
  expect(await provider.send(payment)).toEqual(answer);
  expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentApplied']);
  expect(await payments.rowOf(idOf(payment))).toMatchObject({ merchant_id: MERCHANT, status: 'applied' });
});

test('concurrent duplicates are one payment', async () => {
  const payment = await payOrder();
  const answers = await Promise.all(Array.from({ length: 8 }, () => provider.send(payment)));
  for (const answer of answers) if (answer.status !== 200) expect((await provider.send(payment)).status).toBe(200);
  expect(answers.map(({ status }) => status)).toContain(200);
  expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentApplied']);
});

test('refuses bad, old and replayed signatures and records nothing', async () => {
  const payment = await payOrder();
  const long = new Date(Date.now() - 301_000);
  const answers = [
    await provider.send(payment, { signedWith: 'some other secret of thirty-two characters' }),
    await provider.send(payment, { now: long }),
    await provider.send(payment, { body: JSON.stringify({ ...payment, amount: '1000' }) }),
    await provider.send(payment, { body: '' }),
  ];
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(answers.map(() => [401, 'invalid_signature']));
  expect(await payments.typesOf(idOf(payment))).toEqual([]);
});

test('accepts the secret before a rotation', async () => {
  expect(await provider.send(await payOrder(), { signedWith: OLDER })).toMatchObject({ status: 200 });
});

test.each([
  ['amount', { amount: '11' }],
  ['currency', { currency: 'USDT' as const }],
])('refuses a payment that comes again with another %s', async (_, change) => {
  const payment = await payOrder();
  await provider.send(payment);
  const answer = await provider.send({ ...payment, ...change });
  expect(answer).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
  expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentApplied']);
});

test('records the payment of an unknown order as an orphan', async () => {
  const payment = await payOrder({ order_id: newId('order') });
  expect(await provider.send(payment)).toMatchObject({ status: 202, body: { status: 'orphan', has_order: false } });
  expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentOrphaned']);
});

test.each([
  ['more decimals than the currency has', { amount: '1.0000001' }],
  ['no amount', { amount: undefined as unknown as string }],
  ['an id with spaces', { external_reference_id: 'a b' }],
])('refuses %s', async (_, change) => {
  const payment = await payOrder(change);
  expect(await provider.send(payment)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
});

test('refuses a body that is not JSON, and an unknown provider', async () => {
  const text = 'not json' as unknown as ProviderPayment;
  expect(await provider.send(text)).toMatchObject({ status: 400 });
  const unknown = await payments.call('POST', '/providers/other/callbacks', { body_base64: '' });
  expect(unknown).toMatchObject({ status: 404 });
});

test('a process that dies after the payment is recorded answers no 2xx, and the repeat is the same payment', async () => {
  const payment = await payOrder();
  faults.plan(idOf(payment), { fault: 'commit-timeout', skip: 0, times: 2 });
  expect((await provider.send(payment)).status).toBe(503);
  expect(await provider.send(payment)).toMatchObject({ status: 200, body: { status: 'applied' } });
  expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentApplied']);
});

test('a repeated callback does not bring back a payment that failed', async () => {
  const payment = await payOrder();
  await provider.send(payment);
  await payments.call('POST', `/payments/${idOf(payment)}/failure`, {});
  expect(await provider.send(payment)).toMatchObject({ body: { status: 'failed' } });
});

test('the last question before an order ends finds the payment of a lost callback', async () => {
  const payment = await payOrder();
  provider.takePayment(payment);
  const references = [{ provider: 'acme', reference: `REF-${payment.order_id}` }];
  const answer = await payments.call('POST', '/providers/waiting', { references });
  expect(answer).toEqual({ status: 200, body: { waiting_for: [] } });
  expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentApplied']);
});

test('an order waits while a payment of its provider cannot be recorded', async () => {
  const payment = await payOrder();
  provider.takePayment(payment);
  faults.plan(idOf(payment), { fault: 'commit-timeout', skip: 0, times: 2 });
  const references = [{ provider: 'acme', reference: `REF-${payment.order_id}` }];
  expect(await payments.call('POST', '/providers/waiting', { references })).toMatchObject({
    body: { waiting_for: ['acme'] },
  });
});

/** An order that the provider knows, and queries for its payments at the ages of the order. */
const orderToAskFor = async () => {
  const orderId = newId('order');
  payments.stub.add(orderId, MERCHANT, applied);
  const shown = await acme.registerOrder({
    orderId,
    merchantId: MERCHANT,
    currency: 'USDC',
    decimals: 6,
    amountMinor: 10_000_000n,
  });
  const instruction = { ...page(shown.reference), provider: 'acme' };
  await payments.events.created(orderId, [instruction]);
  const assigned = await until(async () => {
    const { rows } = await payments.pool.query<{ assigned_at: Date }>(
      'select assigned_at from payments.payables where order_id = $1',
      [orderId],
    );
    return rows[0]?.assigned_at;
  });
  let clock = assigned.getTime() + QUERY_AGES_MS[1]! - 1_000;
  const askDue = lostCallbacks({
    providers: [acme],
    readModel: payments.pool,
    orders: payments.orders,
    query: payments.query,
    log,
    now: () => new Date(clock),
    nowMs: () => clock,
  });
  const asked = async () => {
    const before = provider.requests.length;
    await askDue(new AbortController().signal);
    return provider.requests.length - before;
  };
  const payment = await payOrder({ order_id: orderId });
  return { orderId, payment, asked, passMs: (ms: number) => void (clock += ms) };
};

describe('a query', () => {
  let projecting: ReturnType<PaymentsService['startPayables']>;
  beforeAll(() => (projecting = payments.startPayables()));
  afterAll(() => projecting.stop());
  afterEach(() => payments.pool.query('delete from payments.payables'));

  test('finds the payment of a lost callback, at the ages of the order', async () => {
    const { orderId, payment, asked, passMs } = await orderToAskFor();
    provider.takePayment(payment);
    // The first window of a leader reaches back over the first age.
    expect(await asked()).toBe(1);
    expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentApplied']);
    expect(await asked()).toBe(0);
    passMs(1_000);
    expect(await asked()).toBe(1);
    payments.stub.setStatus(orderId, 'paid');
    passMs(QUERY_AGES_MS[2]! - QUERY_AGES_MS[1]!);
    expect(await asked()).toBe(0);
    expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentApplied']);
  });

  test('records each payment that can be recorded, beside one that cannot be read and one that conflicts', async () => {
    const { payment, asked } = await orderToAskFor();
    const recorded = await payOrder();
    await provider.send(recorded);
    const conflicting = { ...payment, external_reference_id: recorded.external_reference_id, amount: '11' };
    for (const each of [{ ...payment, amount: 'ten' }, conflicting, payment]) provider.takePayment(each);
    await asked();
    expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentApplied']);
    expect(await asked()).toBe(0);
  });

  test('that fails is repeated before the next age', async () => {
    const { payment, asked, passMs } = await orderToAskFor();
    provider.takePayment(payment);
    faults.plan(idOf(payment), { fault: 'commit-timeout', skip: 0, times: 2 });
    expect(await asked()).toBe(1);
    expect(await asked()).toBe(0);
    passMs(15_000);
    expect(await asked()).toBe(1);
    expect(await payments.typesOf(idOf(payment))).toEqual(['PaymentReceived', 'PaymentApplied']);
    passMs(15_000);
    expect(await asked()).toBe(0);
  });
});
