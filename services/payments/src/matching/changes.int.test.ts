import type { PaymentOutcome } from '@cpg/contracts';
import { newContext, newId } from '@cpg/platform';
import { applied, DECIDED_AT, held, MERCHANT, report } from '../testing/jest-fixtures.ts';
import type { Decide } from '../testing/jest-orders-stub-views.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { SANDBOX } from '../testing/jest-rails.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(() => payments.stop());

const registered = async (decide = applied, changes: object = {}) =>
  (await payments.register(report(payments.addOrder(decide), changes))).payment;
const confirm = (id: string, body: object = {}) => payments.call('POST', `/payments/${id}/confirmation`, body);
const fail = (id: string, body: object = {}) => payments.call('POST', `/payments/${id}/failure`, body);
const refund = (id: string, body: object = { what: 'all' }) =>
  payments.call('POST', `/payments/${id}/refunds`, { merchant_id: MERCHANT, refund_id: newId('refund'), ...body });

describe('confirmation', () => {
  test('records the confirmation, sends it to the order, and records its decision', async () => {
    const id = (
      await registered((payment, confirmed) => (confirmed ? applied : held)(payment, confirmed), {
        confirmed: false,
      })
    ).id;
    expect(payments.stub.calls.at(-1)).toMatch(/^POST .*\/payments$/);
    expect(await payments.rowOf(id)).toMatchObject({ status: 'received' });
    payments.stub.resetDecision(id);
    const { status, body } = await confirm(id, { confirmations: 2 });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { payment: { status: 'applied', confirmations: 2 }, order: { payments: [{ id, status: 'applied' }] } },
    });
    expect(await confirm(id, { confirmations: 3 })).toEqual({ status, body });
    expect(await payments.typesOf(id)).toEqual(['PaymentReceived', 'PaymentConfirmed', 'PaymentApplied']);
  });

  test('refuses to confirm a failed payment, and answers 404 for an unknown one', async () => {
    const { id } = await registered();
    await fail(id);
    expect(await confirm(id)).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
    expect(await confirm(newId('payment'))).toMatchObject({ status: 404 });
  });
});

describe('failure', () => {
  test.each([
    ['dropped', held, { confirmed: false }],
    ['reorg', applied, {}],
  ] as const)('records the failure as %s and sends it to the order', async (failure_reason, decide, changes) => {
    const { id } = await registered(decide, changes);
    const { status, body } = await fail(id);
    expect({ status, body }).toMatchObject({ status: 200, body: { payment: { status: 'failed', failure_reason } } });
    expect(payments.stub.notices.at(-1)).toMatchObject({ payment: { id }, failure_reason });
    expect(await payments.rowOf(id)).toMatchObject({ status: 'failed', resource: { failure_reason } });
    expect((await fail(id, { failure_reason: 'another' })).body).toMatchObject({ payment: { failure_reason } });
  });

  test('fails an orphan, and refuses to fail a refunded payment', async () => {
    const { payment: orphan } = await payments.register(report(newId('order')));
    const { id } = await registered();
    await refund(id);
    expect((await fail(orphan.id)).body).toMatchObject({ payment: { status: 'failed', failure_reason: 'reorg' } });
    expect(await fail(id)).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
  });

  test('sends a failure to the order on retry when the order was unavailable', async () => {
    const { id } = await registered();
    payments.stub.setUnavailable(true);
    expect((await fail(id)).status).toBe(503);
    payments.stub.setUnavailable(false);
    expect(await fail(id)).toMatchObject({ status: 200, body: { payment: { status: 'failed' } } });
    expect(payments.stub.notices.at(-1)).toMatchObject({ payment: { id } });
  });
});

describe('refund', () => {
  test('refunds a part, then the rest', async () => {
    const { id } = await registered();
    const part = { amount: '4', reason: 'one cup was broken' };
    expect(await refund(id, part)).toMatchObject({
      status: 200,
      body: { payment: { status: 'applied', applied_amount: '6.000000', refunded_amount: '4.000000' }, order: {} },
    });
    expect(payments.stub.notices.at(-1)).toMatchObject({ refunded_total_minor: '4000000' });
    expect(await refund(id)).toMatchObject({ body: { payment: { status: 'refunded', refunded_amount: '10.000000' } } });
    expect(payments.stub.notices.at(-1)).toMatchObject({ refunded_total_minor: '10000000' });
    expect(await refund(id)).toMatchObject({ status: 409, body: { code: 'nothing_to_refund' } });
  });

  test('records how the money went back, on the network of the payment', async () => {
    const chain = SANDBOX.networks.find(({ kind }) => kind === 'evm')!;
    const provider_id = `${chain.chainId}/0x${newId('payment')}:0`;
    const { id } = await registered(applied, { provider_id });
    const refund_id = newId('refund');
    const destination = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    const tx_hash = `0x${'ab'.repeat(32)}`;
    const body = { refund_id, amount: '4', tx_hash: `0x${'AB'.repeat(32)}`, destination: destination.toLowerCase() };
    expect(await refund(id, { ...body, destination: destination.slice(1) })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'destination', message: expect.stringContaining(chain.name) }] },
    });
    expect((await refund(id, body)).status).toBe(200);
    const { rows } = await payments.pool.query('select resource from payments.refunds where id = $1', [refund_id]);
    expect(rows[0].resource).toMatchObject({ status: 'recorded', network: chain.name, tx_hash, destination });
  });

  describe('of the surplus', () => {
    const excess: Decide = ({ paymentId }): PaymentOutcome => ({
      status: 'orphan',
      payment_id: paymentId,
      orphan_reason: 'already_paid',
      at: DECIDED_AT,
    });

    test('takes what the order decided last, and nothing that the order has needed since', async () => {
      const { id } = await registered(excess);
      expect(await payments.rowOf(id)).toMatchObject({ status: 'orphan', due_back: true });
      payments.stub.decideAgain(id, applied);
      for (const body of [{}, { what: 'surplus' }])
        expect(await refund(id, body)).toMatchObject({
          status: 'what' in body ? 409 : 400,
          body: { code: 'what' in body ? 'nothing_to_refund' : 'refund_amount_required' },
        });
      expect(await payments.typesOf(id)).toEqual(['PaymentReceived', 'PaymentOrphaned', 'PaymentApplied']);
      expect(await payments.rowOf(id)).toMatchObject({ status: 'applied', due_back: false });
    });

    test('waits for orders, and its repeat does not', async () => {
      const { id } = await registered(excess);
      const same = { refund_id: newId('refund') };
      payments.stub.setUnavailable(true);
      expect(await refund(id, same)).toMatchObject({ status: 503, body: { code: 'dependency_unavailable' } });
      expect(await payments.typesOf(id)).not.toContain('PaymentRefunded');
      payments.stub.setUnavailable(false);
      const first = await refund(id, same);
      expect(first).toMatchObject({ status: 200, body: { payment: { status: 'refunded' } } });
      expect(await payments.rowOf(id)).toMatchObject({ due_back: false });
      payments.stub.setUnavailable(true);
      expect(await refund(id, same)).toMatchObject({ status: 200, body: { payment: { status: 'refunded' } } });
      payments.stub.setUnavailable(false);
      expect((await payments.typesOf(id))!.filter((type) => type === 'PaymentRefunded')).toHaveLength(1);
    });

    test('is a repeat also of a refund that another instance recorded', async () => {
      const { id } = await registered(excess);
      const refundId = newId('refund');
      const command = { type: 'RefundPayment', refundId, what: 'surplus', at: new Date() } as const;
      await payments.anotherHandler().handle(id, command, newContext('service:gateway'));
      payments.stub.setUnavailable(true);
      const repeat = await refund(id, { refund_id: refundId });
      payments.stub.setUnavailable(false);
      expect(repeat).toMatchObject({ status: 200, body: { payment: { status: 'refunded' } } });
    });
  });

  test('refunds once when the same refund id is repeated', async () => {
    const { id } = await registered();
    const same = { amount: '4', refund_id: newId('refund') };
    const first = await refund(id, same);
    expect(await refund(id, same)).toEqual(first);
    expect(await payments.rowOf(id)).toMatchObject({ resource: { refunded_amount: '4.000000' } });
  });

  test.each([
    ['0', /positive/],
    ['1.0000001', /6 decimals/],
  ])('refuses an amount of %s and names the field', async (amount, message) => {
    const { id } = await registered();
    expect(await refund(id, { amount })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', details: [{ path: 'amount', message: expect.stringMatching(message) }] },
    });
  });

  test('refuses more than is left', async () => {
    const { id } = await registered();
    await refund(id, { amount: '4' });
    expect(await refund(id, { amount: '6.000001' })).toMatchObject({
      status: 409,
      body: { code: 'refund_too_large', message: expect.stringContaining('only 6.000000 USDC') },
    });
  });

  test('refuses to refund a received or a failed payment', async () => {
    const { id } = await registered(held);
    expect(await refund(id)).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
    await fail(id);
    expect(await refund(id)).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
  });

  test("answers 404 for another merchant's payment", async () => {
    const { id } = await registered();
    expect((await refund(id, { what: 'all', merchant_id: newId('merchant') })).status).toBe(404);
    expect((await refund(newId('payment'))).status).toBe(404);
  });

  test.each(['dependency_unavailable', 'concurrent_update', 'internal_error'] as const)(
    'succeeds once it is recorded, even if orders answers %s',
    async (code) => {
      const { id } = await registered();
      payments.stub.refuseWith(code);
      expect(await refund(id)).toMatchObject({ status: 200, body: { payment: { status: 'refunded' }, order: null } });
      payments.stub.refuseWith(null);
    },
  );
});

test('lists each refund in the read model, and none of a deleted payment', async () => {
  const { id, order_id } = await registered();
  const [first, second] = [newId('refund'), newId('refund')];
  await refund(id, { amount: '4', reason: 'one cup was broken', refund_id: first });
  await refund(id, { what: 'all', refund_id: second });
  const rows = async () =>
    (await payments.pool.query('select resource from payments.refunds where payment_id = $1 order by id', [id])).rows;
  const common = {
    payment_id: id,
    order_id,
    merchant_id: MERCHANT,
    currency: 'USDC',
    status: 'recorded',
    created_at: expect.any(String),
  };
  expect(await rows()).toEqual([
    { resource: { ...common, id: first, amount: '4.000000', reason: 'one cup was broken' } },
    { resource: { ...common, id: second, amount: '6.000000' } },
  ]);
  expect((await payments.call('DELETE', `/orders/${order_id}/payments`)).status).toBe(204);
  expect(await rows()).toEqual([]);
});

describe('a change that is recorded and cannot be answered', () => {
  const UNKNOWN = { status: 503, body: { code: 'outcome_unknown', message: expect.stringContaining('took effect') } };
  const withoutReadModel = async <T>(work: () => Promise<T>): Promise<T> => {
    await payments.pool.query('alter table payments.payments rename to unavailable');
    return work().finally(() => payments.pool.query('alter table payments.unavailable rename to payments'));
  };

  test.each([
    [
      'refund',
      applied,
      {},
      (id: string, refund_id: string) => refund(id, { refund_id, amount: '1' }),
      'PaymentRefunded',
    ],
    ['confirmation', held, { confirmed: false }, (id: string) => confirm(id), 'PaymentConfirmed'],
    ['failure', applied, {}, (id: string) => fail(id), 'PaymentFailed'],
  ] as const)('a %s claims nothing while the read model is unavailable, and its repeat finds it', async (...row) => {
    const [, decide, changes, change, type] = row;
    const { id } = await registered(decide, changes);
    const send = () => change(id, `rfd_${id.slice(4)}`);
    expect(await withoutReadModel(send)).toMatchObject(UNKNOWN);
    const [recorded] = (await payments.typesOf(id))!.slice(-1);
    expect(recorded).toBe(type);
    expect((await send()).status).toBe(200);
    expect((await payments.typesOf(id))!.filter((each) => each === type)).toHaveLength(1);
  });

  test.each(['dependency_unavailable', 'concurrent_update'] as const)(
    'a registration claims nothing when orders answers %s, and its repeat finds it',
    async (code) => {
      const body = report(payments.addOrder(applied));
      payments.stub.refuseWith(code);
      expect(await payments.call('POST', '/payments', body)).toMatchObject(UNKNOWN);
      payments.stub.refuseWith(null);
      expect((await payments.register(body)).payment).toMatchObject({ status: 'applied' });
    },
  );
});
