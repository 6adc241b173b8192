import { newId } from '@cpg/runtime';
import { UNCLAIMED_MERCHANT } from './payment/state.ts';
import { unsettledPaymentOf } from './projections/payments.ts';
import { applied, DECIDED_AT, MERCHANT, report } from './testing/jest-fixtures.ts';
import { deposit } from './testing/jest-order-events.ts';
import { type PaymentsService, startPayments } from './testing/jest-payments.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(() => payments.stop());

test('records a payment for an unknown order as an orphan of no merchant', async () => {
  for (const orderId of [newId('order'), 'invoice 7/../x']) {
    const { payment, order } = await payments.register(report(orderId));
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

test('assigns a payment to an address to the order that owns the address', async () => {
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  const orderId = await payments.createOrder(applied, [deposit(address)]);
  const body = report(orderId, { order_id: undefined, address });
  const { payment, order } = await payments.register(body);
  expect(payment).toMatchObject({ order_id: orderId, merchant_id: MERCHANT, status: 'applied' });
  expect(order).toMatchObject({ id: orderId });
  expect((await payments.register({ ...body, address: undefined, order_id: orderId })).payment).toEqual(payment);
});

test('keeps a payment to an unknown address an orphan, even when an order gets the address later', async () => {
  const address = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
  const body = report(address, { order_id: undefined, address });
  const { payment, order } = await payments.register(body);
  expect(order).toBeNull();
  expect(payment).toMatchObject({
    merchant_id: UNCLAIMED_MERCHANT,
    order_id: address,
    status: 'orphan',
    orphan_reason: 'unknown_address',
  });
  await payments.createOrder(applied, [deposit(address)]);
  expect((await payments.register(body)).payment).toEqual(payment);
});

test('makes no orphan of money because orders answers 404 for an order that the event store has', async () => {
  const address = '0x27b1fdb04752bbc536007a920d24acb045561c26';
  const orderId = await payments.createOrder(applied, [deposit(address)]);
  const body = report(orderId, { order_id: undefined, address });
  payments.stub.remove(orderId);
  expect(await payments.call('POST', '/payments', body)).toMatchObject({
    status: 500,
    body: { code: 'internal_error' },
  });
  payments.stub.add(orderId, MERCHANT, applied);
  const { payment } = await payments.register(body);
  expect(payment).toMatchObject({ order_id: orderId, status: 'applied' });
  expect(await payments.typesOf(payment.id)).toEqual(['PaymentReceived', 'PaymentApplied']);
});

test('finds the payments of an order that are not settled and that the order does not hold', async () => {
  const orderId = payments.addOrder(({ paymentId }) => ({
    status: 'orphan',
    payment_id: paymentId,
    orphan_reason: 'too_many_payments',
    at: DECIDED_AT,
  }));
  const unsettled = (heldByOrder: string[] = []) => unsettledPaymentOf(payments.pool, orderId, heldByOrder);
  expect(await unsettled()).toBeNull();
  const { payment } = await payments.register(report(orderId));
  expect(payment).toMatchObject({ status: 'orphan', orphan_reason: 'too_many_payments' });
  expect(await unsettled()).toBe(payment.id);
  expect(await unsettled([payment.id])).toBeNull();
});
