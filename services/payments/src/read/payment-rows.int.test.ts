import { PaymentEvent } from '@cpg/contracts';
import { readStream } from '@cpg/event-sourcing';
import { newId } from '@cpg/platform';
import { rebuild, verify } from '@cpg/operations';
import { paymentIdOf, paymentStreamOf } from '../payment/identity.ts';
import { exists } from '../payment/state.ts';
import { applied, CONTEXT, DECIDED_AT, held, MERCHANT, report, until } from '../testing/jest-fixtures.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { ledgerKeeper } from './kept-ledger.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(() => payments.stop());

describe('deleting the payments of a deleted order', () => {
  test('keeps only their ids and tombstones their streams; a repeat changes nothing', async () => {
    const orderId = payments.addOrder(applied);
    const body = report(orderId);
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
        due_back: null,
        created_at: null,
        revision: '0',
        deleted: true,
        resource: null,
        tx_hash: null,
        applied_at: null,
        refunded_at: null,
        failed_at: null,
        updated_at: null,
      });
    }
    expect(await readStream(payments.client, paymentStreamOf(payment.id), PaymentEvent)).toBeNull();
    expect((await payments.call('POST', '/payments', body)).status).toBe(404);
  });

  test('keeps the lines of their ledgers, without the transaction', async () => {
    const orderId = payments.addOrder(applied);
    const { payment } = await payments.register({ ...report(orderId), tx_hash: '0xf00d' });
    const linesOf = async () =>
      (await payments.pool.query('select * from payments.postings where payment_id = $1 order by id', [payment.id]))
        .rows;
    const before = await linesOf();
    expect(before.map(({ account, tx_hash }) => [account, tx_hash])).toEqual([
      ['payer', '0xf00d'],
      ['received', '0xf00d'],
      ['received', '0xf00d'],
      ['net', '0xf00d'],
      ['fee', '0xf00d'],
    ]);
    expect((await payments.call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
    expect(await linesOf()).toEqual(before.map((line) => ({ ...line, tx_hash: null })));
  });

  test('continues after a crash', async () => {
    const orderId = payments.addOrder(applied);
    const { payment } = await payments.register(report(orderId));
    const { state } = await payments.anotherHandler().load(payment.id);
    if (!exists(state)) throw new Error('the payment does not exist');
    await ledgerKeeper({ client: payments.client, now: () => new Date(DECIDED_AT) })(state);
    await payments.client.tombstoneStream(paymentStreamOf(payment.id));
    expect((await payments.call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
    expect(await payments.rowOf(payment.id)).toMatchObject({ deleted: true });
  });

  test('decides on the recorded state, not on a stale cache', async () => {
    const orderId = payments.addOrder(held);
    const { payment } = await payments.register(report(orderId));
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

  test('keeps a payment that its order never decided on', async () => {
    const orderId = payments.addOrder(held);
    const { payment } = await payments.register(report(orderId));
    expect((await payments.call('DELETE', `/orders/${orderId}/payments`)).status).toBe(204);
    expect(await payments.rowOf(payment.id)).toMatchObject({ deleted: false, status: 'received' });
  });
});

describe('the read model', () => {
  test('catches up from the log after a crash', async () => {
    const orderId = newId('order');
    const command = {
      type: 'ReceivePayment',
      paymentId: paymentIdOf('gateway_pay', orderId),
      merchantId: MERCHANT,
      orderId,
      rail: 'gateway_pay',
      providerId: orderId,
      currency: 'USDC',
      decimals: 6,
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

  test('has the same rows after a rebuild, deleted ones included', async () => {
    const rowsOf = async (statement: string) => (await payments.pool.query(statement)).rows;
    const rows = () => rowsOf('select *, resource::text from payments.payments order by id');
    const postings = () => rowsOf('select * from payments.postings order by id');
    const [before, ledger] = [await rows(), await postings()];
    expect(before.some(({ deleted }) => deleted)).toBe(true);
    expect(before.some(({ deleted }) => !deleted)).toBe(true);
    const ids = before.map(({ id }) => id as string);
    expect([...new Set(ledger.map(({ payment_id }) => payment_id as string))].sort()).toEqual(ids.sort());
    await rebuild(payments.shadowTableOptions());
    expect([await rows(), await postings()]).toEqual([before, ledger]);
    expect(await verify(payments.shadowTableOptions())).toMatchObject({
      rows: before.length + ledger.length,
      differ: 0,
    });
  });
});
