import type { Payment } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { unsettledPaymentOf } from '../read/payment-rows.ts';
import { applied, CONTEXT, DECIDED_AT, MERCHANT, report } from '../testing/jest-fixtures.ts';
import { deposit } from '../testing/jest-order-events.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';

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
  expect(await unsettled()).toEqual({ payment_id: null });
  const { payment } = await payments.register(report(orderId));
  expect(payment).toMatchObject({ status: 'orphan', orphan_reason: 'too_many_payments' });
  expect(await unsettled()).toEqual({ payment_id: payment.id });
  expect(await unsettled([payment.id])).toEqual({ payment_id: null });
});

describe('money that is seen again after its payment was deleted with its order', () => {
  const deleted = async (failedPaymentIds: (paymentId: string) => string[]) => {
    const orderId = await payments.createOrder(applied);
    const body = report(orderId);
    const { payment } = await payments.register(body);
    expect((await payments.call('POST', `/payments/${payment.id}/failure`, {})).status).toBe(200);
    payments.stub.remove(orderId);
    await payments.events.deleted(orderId, [], { failedPaymentIds: failedPaymentIds(payment.id) });
    await payments.deletePayments(orderId);
    return { orderId, body, payment };
  };

  test('becomes an orphan under an id of its own, which can be refunded', async () => {
    const { orderId, body, payment } = await deleted((id) => [id]);
    const { payment: again, order } = await payments.register(body);
    expect(order).toBeNull();
    expect(again).toMatchObject({
      order_id: orderId,
      merchant_id: MERCHANT,
      provider_id: `${body.provider_id}#after-deletion`,
      status: 'orphan',
      orphan_reason: 'unknown_order',
      paid_amount: '10.000000',
    });
    expect(again.id).not.toBe(payment.id);
    expect((await payments.register(body)).payment).toEqual(again);
    expect(await payments.rowOf(again.id)).toMatchObject({ merchant_id: MERCHANT, status: 'orphan', deleted: false });
    expect(await payments.rowOf(payment.id)).toMatchObject({ deleted: true });
    const refund = { merchant_id: MERCHANT, refund_id: newId('refund') };
    expect(await payments.call('POST', `/payments/${again.id}/refunds`, refund)).toMatchObject({
      status: 200,
      body: { payment: { status: 'refunded' } },
    });
    // The message that the order was deleted can arrive once more.
    await payments.deletePayments(orderId);
    expect(await payments.rowOf(again.id)).toMatchObject({ status: 'refunded', deleted: false });
  });

  test('stays deleted if the payment had not failed, or if the report is only a repeat', async () => {
    const { body } = await deleted(() => []);
    expect((await payments.call('POST', '/payments', body)).status).toBe(404);
    const repeated = await deleted((id) => [id]);
    const { status } = await payments.call('POST', '/payments', { ...repeated.body, reinstates: false });
    expect(status).toBe(404);
  });

  test('keeps the payment if its money is seen again while its order is being deleted', async () => {
    const orderId = await payments.createOrder(applied);
    const body = report(orderId);
    const { payment } = await payments.register(body);
    await payments.call('POST', `/payments/${payment.id}/failure`, {});
    payments.stub.remove(orderId);
    await payments.events.deleted(orderId, [], { failedPaymentIds: [payment.id] });
    const { client } = payments;
    const tombstone = client.tombstoneStream.bind(client);
    client.tombstoneStream = async (...call: Parameters<typeof tombstone>) => {
      client.tombstoneStream = tombstone;
      await payments.anotherHandler().handle(payment.id, { type: 'ReceivePayment', ...seenAgain(payment) }, CONTEXT);
      return tombstone(...call);
    };
    await payments.deletePayments(orderId);
    expect(await payments.typesOf(payment.id)).toContain('PaymentReinstated');
  });

  const seenAgain = ({ id, order_id, provider_id }: Payment) => ({
    paymentId: id,
    merchantId: MERCHANT,
    orderId: order_id,
    rail: 'gateway_pay' as const,
    providerId: provider_id,
    currency: 'USDC' as const,
    decimals: 6,
    amountMinor: 10_000_000n,
    feeMinor: 0n,
    feeSchedule: '1',
    confirmed: true,
    seenAt: new Date(),
    at: new Date(),
  });
});
