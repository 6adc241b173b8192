import { newId } from '@cpg/platform';
import { paymentIdOf } from '../payment/identity.ts';
import { applied, CONTEXT, DECIDED_AT, MERCHANT, report } from '../testing/jest-fixtures.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(() => payments.stop());

test('offers a recorded payment to its order when it is reported again', async () => {
  const orderId = payments.addOrder(applied);
  const body = report(orderId);
  const id = paymentIdOf('gateway_pay', body.provider_id);
  payments.stub.setUnavailable(true);
  expect(await payments.call('POST', '/payments', body)).toMatchObject({
    status: 503,
    body: { code: 'outcome_unknown' },
  });
  payments.stub.setUnavailable(false);
  expect(await payments.typesOf(id)).toEqual(['PaymentReceived']);
  expect(await payments.rowOf(id)).toMatchObject({ status: 'received' });
  expect((await payments.register(body)).payment).toMatchObject({ id, status: 'applied' });
  expect(await payments.typesOf(id)).toEqual(['PaymentReceived', 'PaymentApplied']);
});

test('recovers a lost response of the order when the payment is reported again', async () => {
  let decisions = 0;
  const orderId = payments.addOrder((payment, confirmed) => {
    decisions += 1;
    return applied(payment, confirmed);
  });
  const body = report(orderId);
  const id = paymentIdOf('gateway_pay', body.provider_id);
  payments.stub.setDroppingResponses(true);
  expect((await payments.call('POST', '/payments', body)).status).toBe(503);
  payments.stub.setDroppingResponses(false);
  expect(await payments.typesOf(id)).toEqual(['PaymentReceived']);
  expect((await payments.register(body)).payment).toMatchObject({ id, status: 'applied', applied_amount: '10.000000' });
  expect(decisions).toBe(1);
});

test('orphans a payment whose order was deleted before the payment was offered', async () => {
  const orderId = payments.addOrder(applied);
  const body = report(orderId);
  payments.stub.setUnavailable(true);
  await payments.call('POST', '/payments', body);
  payments.stub.setUnavailable(false);
  payments.stub.remove(orderId);
  const { payment } = await payments.register(body);
  expect(payment).toMatchObject({ merchant_id: MERCHANT, status: 'orphan', orphan_reason: 'unknown_order' });
});

test('sends a missed failure or refund to the order when the payment is reported again', async () => {
  const at = new Date(DECIDED_AT);
  const refundId = newId('refund');
  const [failing, refunding] = [report(payments.addOrder(applied)), report(payments.addOrder(applied))];
  const failed = (await payments.register(failing)).payment.id;
  await payments.commands.run(failed, { type: 'FailPayment', failureReason: 'reorg', at }, CONTEXT);
  const refunded = (await payments.register(refunding)).payment.id;
  await payments.commands.run(refunded, { type: 'RefundPayment', refundId, what: 'all', at }, CONTEXT);
  const repeated = await payments.register({ ...failing, reinstates: false });
  expect(repeated.payment).toMatchObject({ status: 'failed', failure_reason: 'reorg' });
  expect((await payments.register(refunding)).payment).toMatchObject({
    status: 'refunded',
    refunded_amount: '10.000000',
  });
  expect(payments.stub.notices).toMatchObject([
    { payment: { id: failed }, failure_reason: 'reorg', at: DECIDED_AT },
    { refund_id: refundId, refunded_total_minor: '10000000', at: DECIDED_AT },
  ]);
});
