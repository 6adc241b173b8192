import { newId } from '@cpg/runtime';
import { paymentIdOf } from './payment/identity.ts';
import { UNCLAIMED_MERCHANT } from './payment/state.ts';
import {
  applied,
  CONTEXT,
  DECIDED_AT,
  held,
  MERCHANT,
  money,
  type PaymentsService,
  startPayments,
} from './testing/jest-payments.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(() => payments.stop());

test('money is recorded with its fee, applied by its order, and visible at once', async () => {
  const orderId = payments.orderThat(applied);
  const { payment, order } = await payments.register(money(orderId, { tx_hash: '0xf00d', metadata: { till: 3 } }));
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

test('the same money reported fifty times at once is one payment', async () => {
  const orderId = payments.orderThat(applied);
  const body = money(orderId);
  const answers = await Promise.all(Array.from({ length: 50 }, () => payments.register(body)));
  expect(new Set(answers.map(({ payment }) => payment.id)).size).toBe(1);
  expect(answers.map(({ payment }) => payment.status)).toEqual(Array(50).fill('applied'));
  expect(await payments.typesOf(answers[0]!.payment.id)).toEqual(['PaymentReceived', 'PaymentApplied']);
  expect((await payments.pool.query('select 1 from payments.payments where order_id = $1', [orderId])).rowCount).toBe(
    1,
  );
});

test('the same money for another order, or of another amount, is a conflict that says what differs', async () => {
  const body = money(payments.orderThat(applied));
  await payments.register(body);
  const other = payments.orderThat(applied);
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

test('money that was recorded and not offered is offered when it is reported again', async () => {
  const orderId = payments.orderThat(applied);
  const body = money(orderId);
  const id = paymentIdOf('gateway_pay', body.provider_id);
  payments.stub.setAway(true);
  expect(await payments.call('POST', '/payments', body)).toMatchObject({
    status: 503,
    body: { code: 'dependency_unavailable' },
  });
  payments.stub.setAway(false);
  expect(await payments.typesOf(id)).toEqual(['PaymentReceived']);
  expect(await payments.rowOf(id)).toMatchObject({ status: 'received' });
  expect((await payments.register(body)).payment).toMatchObject({ id, status: 'applied' });
  expect(await payments.typesOf(id)).toEqual(['PaymentReceived', 'PaymentApplied']);
});

test('an outcome whose answer was lost is learnt when the money is reported again', async () => {
  let decisions = 0;
  const orderId = payments.orderThat((payment, confirmed) => {
    decisions += 1;
    return applied(payment, confirmed);
  });
  const body = money(orderId);
  const id = paymentIdOf('gateway_pay', body.provider_id);
  payments.stub.setLosing(true);
  expect((await payments.call('POST', '/payments', body)).status).toBe(503);
  payments.stub.setLosing(false);
  expect(await payments.typesOf(id)).toEqual(['PaymentReceived']);
  expect((await payments.register(body)).payment).toMatchObject({ id, status: 'applied', applied_amount: '10.000000' });
  expect(decisions).toBe(1);
});

test("money for an order we do not have is kept, as nobody's orphan", async () => {
  for (const orderId of [newId('order'), 'invoice 7/../x']) {
    const { payment, order } = await payments.register(money(orderId));
    expect(order).toBeNull();
    expect(payment).toMatchObject({
      merchant_id: UNCLAIMED_MERCHANT,
      order_id: orderId,
      status: 'orphan',
      orphan_reason: 'unknown_order',
    });
    expect(await payments.rowOf(payment.id)).toMatchObject({ status: 'orphan', resource: payment });
  }
});

test('money that names an address is for the order that has it', async () => {
  const orderId = payments.orderThat(applied);
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  await payments.giveAddress(orderId, address);
  const body = money(orderId, { order_id: undefined, address });
  const { payment, order } = await payments.register(body);
  expect(payment).toMatchObject({ order_id: orderId, merchant_id: MERCHANT, status: 'applied' });
  expect(order).toMatchObject({ id: orderId });
  expect((await payments.register({ ...body, address: undefined, order_id: orderId })).payment).toEqual(payment);
});

test("money at an address of no order is kept, as nobody's orphan, and stays that when an order gets the address", async () => {
  const address = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
  const body = money(address, { order_id: undefined, address });
  const { payment, order } = await payments.register(body);
  expect(order).toBeNull();
  expect(payment).toMatchObject({
    merchant_id: UNCLAIMED_MERCHANT,
    order_id: address,
    status: 'orphan',
    orphan_reason: 'unknown_address',
  });
  await payments.giveAddress(payments.orderThat(applied), address);
  expect((await payments.register(body)).payment).toEqual(payment);
});

test('money has to name its order or its address, and not both', async () => {
  const orderId = payments.orderThat(applied);
  for (const names of [{ order_id: undefined }, { address: '0x52908400098527886E0F7030069857D2E4169EE7' }]) {
    expect(await payments.call('POST', '/payments', money(orderId, names))).toMatchObject({
      status: 400,
      body: { details: [{ path: 'order_id', message: expect.stringContaining('either its order or the address') }] },
    });
  }
});

test('an order that is gone by the time its money is offered leaves an orphan', async () => {
  const orderId = payments.orderThat(applied);
  const body = money(orderId);
  payments.stub.setAway(true);
  await payments.call('POST', '/payments', body);
  payments.stub.setAway(false);
  payments.stub.remove(orderId);
  const { payment } = await payments.register(body);
  expect(payment).toMatchObject({ merchant_id: MERCHANT, status: 'orphan', orphan_reason: 'unknown_order' });
});

test('an order that missed a failure or a refund hears of it when the money is reported again', async () => {
  const at = new Date(DECIDED_AT);
  const refundId = newId('refund');
  const [failing, refunding] = [money(payments.orderThat(applied)), money(payments.orderThat(applied))];
  const failed = (await payments.register(failing)).payment.id;
  await payments.commands.run(failed, { type: 'FailPayment', failureReason: 'reorg', at }, CONTEXT);
  const refunded = (await payments.register(refunding)).payment.id;
  await payments.commands.run(refunded, { type: 'RefundPayment', refundId, at }, CONTEXT);
  expect((await payments.register(failing)).payment).toMatchObject({ status: 'failed', failure_reason: 'reorg' });
  expect((await payments.register(refunding)).payment).toMatchObject({
    status: 'refunded',
    refunded_amount: '10.000000',
  });
  expect(payments.stub.told).toMatchObject([
    { payment: { paymentId: failed }, failure_reason: 'reorg', at: DECIDED_AT },
    { refund_id: refundId, refunded_total_minor: '10000000', at: DECIDED_AT },
  ]);
});

test('what is not confirmed waits, and is told to its order again once it is', async () => {
  const orderId = payments.orderThat(held);
  const body = money(orderId, { confirmed: false });
  expect((await payments.register(body)).payment).toMatchObject({ status: 'received' });
  const { payment } = await payments.register({ ...body, confirmed: true });
  expect(await payments.typesOf(payment.id)).toEqual(['PaymentReceived', 'PaymentConfirmed']);
});

test.each([
  ['0', /must be positive/],
  ['1.0000001', /USDC has 6 decimals/],
  ['-1', /decimal string/],
])('an amount of %s is refused', async (amount, message) => {
  const body = money(payments.orderThat(applied), { amount });
  expect(await payments.call('POST', '/payments', body)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', details: [{ path: 'amount', message: expect.stringMatching(message) }] },
  });
  expect(await payments.typesOf(paymentIdOf('gateway_pay', body.provider_id))).toEqual([]);
});

test('only the services may ask', async () => {
  const response = await payments.app.inject({
    method: 'POST',
    url: '/payments',
    payload: money(payments.orderThat(applied)),
  });
  expect(response.statusCode).toBe(401);
});

test('outcomes that orders tell are recorded once, those of payments that are gone passed over', async () => {
  const { payment } = await payments.register(money(payments.orderThat(held)));
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
