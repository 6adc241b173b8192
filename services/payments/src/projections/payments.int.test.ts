import { PaymentEvent } from '@cpg/contracts';
import { readStream } from '@cpg/event-store';
import { newId } from '@cpg/runtime';
import { rebuild, verify } from '@cpg/stream-relay';
import { paymentIdOf, paymentStreamOf } from '../payment/identity.ts';
import {
  applied,
  CONTEXT,
  DECIDED_AT,
  held,
  MERCHANT,
  money,
  type PaymentsService,
  startPayments,
  until,
} from '../testing/jest-payments.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(() => payments.stop());

describe('forgetting the payments of a deleted order', () => {
  test('leaves their id, and makes their streams unreadable; twice changes nothing', async () => {
    const orderId = payments.orderThat(applied);
    const body = money(orderId);
    const { payment } = await payments.register(body);
    for (const _ of ['once', 'twice']) {
      expect((await payments.call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
      expect(await payments.rowOf(payment.id)).toEqual({
        id: payment.id,
        merchant_id: null,
        order_id: null,
        status: null,
        currency: null,
        payment_rail: null,
        created_at: null,
        revision: '0',
        deleted: true,
        resource: null,
      });
    }
    expect(await readStream(payments.client, paymentStreamOf(payment.id), PaymentEvent)).toBeNull();
    expect((await payments.call('POST', '/payments', body)).status).toBe(404);
  });

  test('goes on where a crash stopped it', async () => {
    const orderId = payments.orderThat(applied);
    const { payment } = await payments.register(money(orderId));
    await payments.client.tombstoneStream(paymentStreamOf(payment.id));
    expect((await payments.call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
    expect(await payments.rowOf(payment.id)).toMatchObject({ deleted: true });
  });

  test('goes by what another process recorded of them, whatever this one remembers', async () => {
    const orderId = payments.orderThat(held);
    const { payment } = await payments.register(money(orderId));
    const outcome = {
      status: 'applied',
      appliedMinor: 10_000_000n,
      unappliedMinor: 0n,
      at: new Date(DECIDED_AT),
    } as const;
    await payments.anotherHandler().handle(payment.id, { type: 'RecordOutcome', outcome }, CONTEXT);
    expect((await payments.call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
    expect(await payments.rowOf(payment.id)).toMatchObject({ deleted: true, resource: null });
  });

  test('keeps money that its order never settled', async () => {
    const orderId = payments.orderThat(held);
    const { payment } = await payments.register(money(orderId));
    expect((await payments.call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
    expect(await payments.rowOf(payment.id)).toMatchObject({ deleted: false, status: 'received' });
  });
});

describe('the read model', () => {
  test('learns from the log what a crash kept from it', async () => {
    const orderId = newId('order');
    const command = {
      type: 'ReceivePayment',
      paymentId: paymentIdOf('gateway_pay', orderId),
      merchantId: MERCHANT,
      orderId,
      rail: 'gateway_pay',
      providerId: orderId,
      currency: 'USDC',
      amountMinor: 10n,
      feeMinor: 0n,
      feeSchedule: 'test',
      confirmed: true,
      seenAt: new Date(DECIDED_AT),
      at: new Date(DECIDED_AT),
    } as const;
    await payments.handler.handle(command.paymentId, command, CONTEXT);
    expect(await until(() => payments.rowOf(command.paymentId))).toMatchObject({
      status: 'received',
      order_id: orderId,
    });
  });

  test('made anew from the streams has the same rows, deleted ones among them', async () => {
    const rows = async () =>
      (await payments.pool.query('select *, resource::text from payments.payments order by id')).rows;
    const before = await rows();
    expect(before.some(({ deleted }) => deleted)).toBe(true);
    expect(before.some(({ deleted }) => !deleted)).toBe(true);
    await rebuild(payments.shadowTableOptions());
    expect(await rows()).toEqual(before);
    expect(await verify(payments.shadowTableOptions())).toMatchObject({ rows: before.length, differ: 0 });
  });
});
