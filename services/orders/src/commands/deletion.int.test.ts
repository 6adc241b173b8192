import { DELETION_STREAM_PREFIX } from '@cpg/contracts';
import { verifyHashChains } from '@cpg/event-sourcing';
import { newId } from '@cpg/platform';
import { MERCHANT, type OrdersService, startOrders, until } from '../testing/jest-orders.ts';
import { offerCall, payment, paymentId } from '../testing/orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

test('deletes an order and leaves a deletion record for auditors', async () => {
  const order = await service.create();
  expect(await service.call('DELETE', `/orders/${order.id}`, { merchant_id: MERCHANT })).toEqual({
    status: 200,
    body: { id: order.id, deleted: true },
  });
  expect(await service.rowOf(order.id)).toMatchObject({ deleted: true, resource: null, external_reference_id: null });
  expect(await service.recordedOf(order.id)).toBeNull();
  expect(service.stub.calls.map(({ path }) => path)).toContain(`DELETE /orders/${order.id}/payments`);
  const deletion = await until(async () => service.messagesOf(order.id).find(({ type }) => type === 'order.deleted'));
  expect(deletion.data).toMatchObject({
    change: {
      orderId: order.id,
      merchantId: MERCHANT,
      actor: 'key:test',
      payables: [{ rail: 'gateway_pay', provider: 'sandbox', paymentReference: 'REF' }],
    },
    resource: null,
  });
  // The record begins a chain of its own, although it repeats other metadata of the order's last event.
  const audit = { prefixes: [DELETION_STREAM_PREFIX], signal: new AbortController().signal };
  expect(await verifyHashChains(service.client, audit)).toMatchObject({ events: 1, faults: 0 });
  expect(await service.call('DELETE', `/orders/${order.id}`, { merchant_id: MERCHANT })).toMatchObject({ status: 404 });
  // The catch-up subscription, which runs later, must not restore the row.
  await until(
    async () =>
      (
        await service.pool.query(
          "select 1 from orders.checkpoints where name = 'projection' and commit_position is not null",
        )
      ).rowCount,
  );
  expect(await service.rowOf(order.id)).toMatchObject({ deleted: true });
});

const failureOf = (n: number) => ({
  failure_reason: 'reorg',
  at: '2026-01-31T12:00:00.000Z',
  ...offerCall(payment(n, 1_000_000n), true),
});

test('names all payments, and those that had failed, because their money can still arrive', async () => {
  const order = await service.create();
  await service.offer(order.id, 61, 1_000_000n);
  service.stub.setPaymentIds([paymentId(61), paymentId(62)]);
  const failed = await service.call('POST', `/orders/${order.id}/payments/${paymentId(61)}/failure`, failureOf(61));
  expect(failed.status).toBe(200);
  expect(await service.call('DELETE', `/orders/${order.id}`, { merchant_id: MERCHANT })).toMatchObject({ status: 200 });
  const deletion = await until(async () => service.messagesOf(order.id).find(({ type }) => type === 'order.deleted'));
  expect(deletion.data).toMatchObject({
    change: { paymentIds: [paymentId(61), paymentId(62)], failedPaymentIds: [paymentId(61)] },
  });
});

test('refuses a deletion while payments has an unsettled payment that the order does not hold', async () => {
  const order = await service.create();
  await service.offer(order.id, 51, 5_450_000n);
  await service.offer(order.id, 53, 1_000_000n);
  await service.call('POST', `/orders/${order.id}/payments/${paymentId(53)}/failure`, failureOf(53));
  service.stub.setUnsettled({ payment_id: paymentId(52) });
  const remove = () => service.call('DELETE', `/orders/${order.id}`, { merchant_id: MERCHANT });
  const refused = await remove();
  expect(refused).toMatchObject({ status: 409, body: { code: 'order_has_unsettled_funds' } });
  expect(refused.body.message).toContain(paymentId(52));
  // Payments may have seen the money of the failed payment again.
  expect(service.stub.calls.at(-1)).toEqual({
    path: `POST /orders/${order.id}/unsettled-payment`,
    body: { held_by_order: [paymentId(51)] },
  });
  const refundId = newId('refund');
  service.stub.setUnsettled({ payment_id: paymentId(51), refund_id: refundId });
  expect((await remove()).body.message).toMatch(`refund ${refundId} of payment ${paymentId(51)} is not settled`);
  service.stub.setUnsettled({ payment_id: null });
  expect((await remove()).status).toBe(200);
});

test('a deletion sends payments the last outcomes before it deletes the payments', async () => {
  const order = await service.create();
  await service.offer(order.id, 31, 5_450_000n);
  expect((await service.call('DELETE', `/orders/${order.id}`, { merchant_id: MERCHANT })).status).toBe(200);
  const forgotten = service.stub.calls.findIndex(({ path }) => path === `DELETE /orders/${order.id}/payments`);
  const applied = { status: 'applied', payment_id: paymentId(31), applied_minor: '5450000' };
  expect(service.stub.calls.slice(0, forgotten)).toContainEqual({
    path: 'POST /outcomes',
    body: { outcomes: [expect.objectContaining(applied)] },
  });
});

test('publishes and projects later events after a deletion', async () => {
  const order = await service.create();
  await until(async () => service.messagesOf(order.id)[0]);
  const position = async () =>
    (await service.pool.query("select commit_position::text as at from orders.checkpoints where name = 'projection'"))
      .rows[0].at;
  const before = await position();
  await service.create();
  await until(async () => (await position()) !== before);
});
