import type { OfferedPayment } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { paymentIdOf } from '../payment/identity.ts';
import { applied, DECIDED_AT, held, MERCHANT, report } from '../testing/jest-fixtures.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(() => payments.stop());

test('records a payment with its fee, applies it to its order, and shows it at once', async () => {
  const orderId = payments.addOrder(applied);
  const { payment, order } = await payments.register(report(orderId, { tx_hash: '0xf00d', metadata: { till: 3 } }));
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
  expect(await payments.rowOf(payment.id)).toMatchObject({
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

test('records one payment when it is reported fifty times concurrently', async () => {
  const orderId = payments.addOrder(applied);
  const body = report(orderId);
  const answers = await Promise.all(Array.from({ length: 50 }, () => payments.register(body)));
  expect(new Set(answers.map(({ payment }) => payment.id)).size).toBe(1);
  expect(answers.map(({ payment }) => payment.status)).toEqual(Array(50).fill('applied'));
  expect(await payments.typesOf(answers[0]!.payment.id)).toEqual(['PaymentReceived', 'PaymentApplied']);
  expect((await payments.pool.query('select 1 from payments.payments where order_id = $1', [orderId])).rowCount).toBe(
    1,
  );
});

test('refuses the same payment for another order or with another amount, and names the difference', async () => {
  const body = report(payments.addOrder(applied));
  await payments.register(body);
  const other = payments.addOrder(applied);
  expect(await payments.call('POST', '/payments', { ...body, order_id: other })).toMatchObject({
    status: 409,
    body: { code: 'payment_conflict', message: expect.stringContaining(`another order (${body.order_id})`) },
  });
  expect(await payments.call('POST', '/payments', { ...body, amount: '11' })).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('another amount (10.000000)') },
  });
  expect(payments.stub.calls).not.toContain(`POST /orders/${other}/payments`);
});

test('requires either an order or an address, not both', async () => {
  const orderId = payments.addOrder(applied);
  for (const fields of [{ order_id: undefined }, { address: '0x52908400098527886E0F7030069857D2E4169EE7' }]) {
    expect(await payments.call('POST', '/payments', report(orderId, fields))).toMatchObject({
      status: 400,
      body: { details: [{ path: 'order_id', message: expect.stringContaining('either the order id or the address') }] },
    });
  }
});

test('offers a payment to its order again once it is confirmed', async () => {
  const orderId = payments.addOrder(held);
  const body = report(orderId, { confirmed: false });
  expect((await payments.register(body)).payment).toMatchObject({ status: 'received' });
  const { payment } = await payments.register({ ...body, confirmed: true });
  expect(await payments.typesOf(payment.id)).toEqual(['PaymentReceived', 'PaymentConfirmed']);
});

test('shows the block of a payment, and keeps the payment when it is mined again in another block', async () => {
  const orderId = payments.addOrder(held);
  const block = { height: 812, hash: '0x812' };
  const body = report(orderId, { confirmed: false, confirmations: 1, block });
  expect((await payments.register(body)).payment).toMatchObject({ block, confirmations: 1 });
  const elsewhere = { height: 813, hash: '0x813' };
  const { payment } = await payments.register({ ...body, block: elsewhere });
  expect(payment).toMatchObject({ status: 'received', block: elsewhere });
  expect(await payments.rowOf(payment.id)).toMatchObject({ resource: { block: elsewhere } });
  expect(await payments.typesOf(payment.id)).toEqual(['PaymentReceived', 'PaymentBlockChanged']);
});

test('tells the order when the rail first saw the money: no time in the future, unless a block has it', async () => {
  const offered: OfferedPayment[] = [];
  const orderId = payments.addOrder((payment, confirmed) => {
    offered.push(payment);
    return applied(payment, confirmed);
  });
  for (const seen_at of ['2026-01-31T11:59:00Z', '2126-01-31T12:00:00Z'])
    await payments.register(report(orderId, { seen_at }));
  // A block proves its time: the clock of payments may be behind.
  await payments.register(report(orderId, { seen_at: '2126-01-31T12:00:00Z', block: { height: 7, hash: '0x7' } }));
  expect(offered.map(({ seenAt }) => seenAt)).toEqual([
    '2026-01-31T11:59:00.000Z',
    offered[1]!.receivedAt,
    '2126-01-31T12:00:00.000Z',
  ]);
});

test.each([
  ['0', /must be positive/],
  ['1.0000001', /USDC has 6 decimals/],
  ['-1', /decimal string/],
])('refuses an amount of %s', async (amount, message) => {
  const body = report(payments.addOrder(applied), { amount });
  expect(await payments.call('POST', '/payments', body)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', details: [{ path: 'amount', message: expect.stringMatching(message) }] },
  });
  expect(await payments.typesOf(paymentIdOf('gateway_pay', body.provider_id))).toEqual([]);
});

test('requires a token', async () => {
  const response = await payments.app.inject({
    method: 'POST',
    url: '/payments',
    payload: report(payments.addOrder(applied)),
  });
  expect(response.statusCode).toBe(401);
});

test('records outcomes from orders once and skips deleted payments', async () => {
  const { payment } = await payments.register(report(payments.addOrder(held)));
  const outcomes = [
    { status: 'orphan', payment_id: payment.id, orphan_reason: 'late', at: DECIDED_AT },
    { status: 'orphan', payment_id: newId('payment'), orphan_reason: 'late', at: DECIDED_AT },
    { status: 'received', payment_id: payment.id },
  ];
  expect((await payments.call('POST', '/outcomes', { outcomes })).status).toBe(204);
  expect((await payments.call('POST', '/outcomes', { outcomes })).status).toBe(204);
  expect(await payments.typesOf(payment.id)).toEqual(['PaymentReceived', 'PaymentOrphaned']);
  expect(await payments.rowOf(payment.id)).toMatchObject({ status: 'orphan' });
});
