import { newId } from '@cpg/platform';
import { applied, MERCHANT } from '../testing/jest-fixtures.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { findOrder } from './payable.ts';

let payments: PaymentsService;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.stop());

const update = (orderId: string, revision: number, change: object) =>
  payments.events.record(`order-${orderId}`, 'OrderUpdated', change, revision);

test('an order is known by its reference and by its newest metadata', async () => {
  const orderId = await payments.createOrder(applied);
  const known = { merchantId: MERCHANT, reference: { externalReferenceId: 'cart-1' } };
  expect(await findOrder(payments.client, orderId)).toEqual(known);
  await update(orderId, 0, { metadata: { shop: 'b2c' } });
  await update(orderId, 1, { metadata: { shop: 'b2c', step: 2 } });
  await update(orderId, 2, { expirationMinutes: 90 });
  expect(await findOrder(payments.client, orderId)).toEqual({
    ...known,
    reference: { externalReferenceId: 'cart-1', metadata: { shop: 'b2c', step: 2 } },
  });
});

test('a deleted order is known by its merchant alone, and an unknown order not at all', async () => {
  const orderId = await payments.createOrder(applied);
  await payments.events.deleted(orderId, []);
  expect(await findOrder(payments.client, orderId)).toEqual({ merchantId: MERCHANT });
  expect(await findOrder(payments.client, newId('order'))).toBeNull();
});
