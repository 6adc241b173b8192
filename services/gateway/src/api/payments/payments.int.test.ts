import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { paymentOf, projectPayment } from '../../testing/jest-resources.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;

const examplePayments = (merchantId: string) => [
  paymentOf(`pay_${newUlid()}`, merchantId, {
    created_at: '2026-01-01T00:00:00.000Z',
    applied_at: '2026-01-01T00:01:00.000Z',
    updated_at: '2026-01-03T00:00:30.000Z',
  }),
  paymentOf(`pay_${newUlid()}`, merchantId, {
    created_at: '2026-01-02T00:00:00.000Z',
    status: 'orphan',
    due_back_amount: '52.472200',
    currency: 'BTC',
    applied_at: undefined,
    updated_at: '2026-01-02T00:05:00.000Z',
  }),
  paymentOf(`pay_${newUlid()}`, merchantId, {
    created_at: '2026-01-03T00:00:00.000Z',
    payment_rail: 'gateway_pay',
    status: 'refunded',
    applied_at: '2026-01-03T00:01:00.000Z',
    refunded_at: '2026-01-04T00:00:00.000Z',
    updated_at: '2026-01-04T00:00:00.000Z',
  }),
  paymentOf(`pay_${newUlid()}`, merchantId, {
    created_at: '2026-01-04T00:00:00.000Z',
    status: 'failed',
    applied_at: undefined,
    failed_at: '2026-01-04T00:10:00.000Z',
    updated_at: '2026-01-04T00:10:00.000Z',
  }),
];
let payments: ReturnType<typeof examplePayments>;

beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
  payments = examplePayments(shop.id);
  for (const payment of payments) await projectPayment(gateway.pool, payment);
});
afterAll(() => gateway.close());

test('returns a payment from the read model', async () => {
  expect((await shop.send('GET', `/v1/payments/${payments[1]!.id}`)).body).toEqual(payments[1]);
});

test('lists payments newest first', async () => {
  expect((await shop.send('GET', '/v1/payments')).body).toEqual({
    items: [...payments].reverse(),
    limit: 10,
    count: 4,
    total: 4,
    page: 1,
    totalPages: 1,
  });
});

test.each([
  ['status=orphan', [1]],
  ['currency=BTC', [1]],
  ['payment_rail=gateway_pay', [2]],
  ['payment_rail=crypto_deposit&sort=asc', [0, 1, 3]],
  ['order_id=ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C', [3, 2, 1, 0]],
  ['order_id=ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3D', []],
  ['due_back=true', [1]],
  ['due_back=false', [3, 2, 0]],
  ['due_back=true&status=applied', []],
  ['due_back=true&status=orphan&currency=BTC', [1]],
  ['from_date=2026-01-02T00:00:00Z&to_date=2026-01-02T00:00:00Z', [1]],
  ['applied_from=2026-01-01T00:00:00Z', [2, 0]],
  ['applied_from=2026-01-01T00:01:00Z&applied_to=2026-01-01T00:01:00Z', [0]],
  ['applied_from=2026-01-01T00:01:00.001Z&applied_to=2026-01-03T00:00:59.999Z', []],
  ['applied_from=2026-01-01T00:00:00Z&status=refunded', [2]],
  ['refunded_from=2026-01-04T00:00:00Z&refunded_to=2026-01-04T00:00:00Z', [2]],
  ['refunded_to=2026-01-03T23:59:59Z', []],
  ['failed_from=2026-01-04T00:10:00Z', [3]],
  ['failed_to=2026-01-04T00:10:00Z', [3]],
  ['failed_to=2026-01-04T00:09:59Z', []],
  ['updated_from=2026-01-03T00:00:00Z', [3, 2, 0]],
  ['updated_to=2026-01-03T00:00:30Z&sort=asc', [0, 1]],
  ['updated_to=2026-01-03T00:00:30Z&to_date=2026-01-01T12:00:00Z', [0]],
  ['updated_from=2026-01-03T00:00:00Z&updated_to=2026-01-04T00:00:00Z&from_date=2026-01-02T00:00:00Z', [2]],
])('%s matches payments %j', async (query, expected) => {
  expect((await shop.send('GET', `/v1/payments?${query}`)).body.items).toEqual(
    expected.map((index) => payments[index]),
  );
});

test.each([
  'status=paid',
  'currency=USD',
  'payment_rail=cash',
  'search=x',
  'limit=x',
  'due_back=1',
  'applied_from=2026-01-01',
  'failed_to=now',
])('returns 400 for %s with the name of the parameter', async (query) => {
  const { status, body } = await shop.send('GET', `/v1/payments?${query}`);
  expect({ status, path: body.details[0].path }).toEqual({ status: 400, path: query.split('=')[0] });
});

describe('refund', () => {
  const refund = (id: string, body?: unknown, headers = {}) =>
    shop.send('POST', `/v1/payments/${id}/refund`, body, headers);
  const PAID_BACK = { tx_hash: 'f00d', network: 'base', destination: '0x5aAe' };
  const refunded = () => paymentOf(payments[0]!.id, shop.id, { status: 'refunded', refunded_amount: '52.472200' });
  const refundIds = () => gateway.payments.calls.map(({ body }) => (body as { refund_id: string }).refund_id);
  beforeEach(() => {
    gateway.payments.calls.length = 0;
    gateway.payments.respond = () => ({ status: 200, body: { payment: refunded(), order: null } });
  });

  test.each([
    [undefined],
    [{}],
    [{ what: 'all' }],
    [{ what: 'surplus' }],
    [{ amount: '1.5' }],
    [{ amount: '1.5', reason: 'cold soup', ...PAID_BACK }],
  ])('with %j calls the payments service, and returns the payment', async (body) => {
    const response = await refund(payments[0]!.id, body);
    expect([response.status, response.body]).toEqual([201, { ...refunded(), refund_id: refundIds()[0] }]);
    expect(response.headers.location).toBe(`/v1/refunds/${refundIds()[0]}`);
    expect(gateway.payments.calls).toMatchObject([{ path: `/payments/${payments[0]!.id}/refunds` }]);
    expect(gateway.payments.calls[0]!.body).toEqual({
      merchant_id: shop.id,
      refund_id: expect.stringMatching(/^rfd_[0-9A-Z]{26}$/),
      ...body,
    });
  });

  test('repeated with the same Idempotency-Key is the same refund', async () => {
    const again = () => refund(payments[0]!.id, { amount: '1' }, { 'idempotency-key': 'refund-1' });
    gateway.payments.respond = () => errorResponse(503, 'dependency_unavailable');
    expect((await again()).status).toBe(503);
    gateway.payments.respond = () => ({ status: 200, body: { payment: refunded(), order: null } });
    expect((await again()).status).toBe(201);
    expect((await again()).headers['idempotency-replayed']).toBe('true');
    expect(refundIds()).toHaveLength(2);
    expect(new Set(refundIds()).size).toBe(1);
  });

  test('repeated without a key is another refund', async () => {
    await refund(payments[0]!.id, { amount: '1' });
    await refund(payments[0]!.id, { amount: '1' });
    expect(new Set(refundIds()).size).toBe(2);
  });

  test.each([
    [{ amount: '-1' }, 'amount'],
    [{ amount: 1 }, 'amount'],
    [{ reason: '' }, 'reason'],
    [{ what: 'some' }, 'what'],
    [{ what: 'surplus', amount: '1' }, 'what'],
    [{ tx_hash: '' }, 'tx_hash'],
    [{ destination: 7 }, 'destination'],
    [{ surprise: 1 }, 'surprise'],
  ])('returns 400 for %j with the path of the field', async (body, path) => {
    expect((await refund(payments[0]!.id, body)).body).toMatchObject({ statusCode: 400, details: [{ path }] });
    expect(gateway.payments.calls).toHaveLength(0);
  });

  test.each([
    [400, 'refund_amount_required'],
    [409, 'nothing_to_refund'],
    [409, 'payment_conflict'],
  ])('returns %d %s of the payments service', async (status, code) => {
    gateway.payments.respond = () => errorResponse(status, code);
    expect((await refund(payments[0]!.id)).body).toMatchObject({ statusCode: status, code });
  });

  test('of an unknown payment is 404', async () => {
    gateway.payments.respond = () => errorResponse(404, 'not_found', 'there is no such payment');
    for (const id of [`pay_${newUlid()}`, 'pay_'])
      expect((await refund(id)).body).toMatchObject({
        statusCode: 404,
        message:
          'no payment has this id. The payment may be deleted, or belong to another merchant. An id starts with "pay_".',
      });
  });
});

test("another merchant's, an unknown and a malformed id are 404", async () => {
  const other = await gateway.merchant();
  expect((await other.send('GET', '/v1/payments')).body.total).toBe(0);
  for (const id of [payments[0]!.id, `pay_${newUlid()}`, 'pay_']) {
    expect((await other.send('GET', `/v1/payments/${id}`)).body).toMatchObject({
      message:
        'no payment has this id. The payment may be deleted, or belong to another merchant. An id starts with "pay_".',
    });
  }
});
