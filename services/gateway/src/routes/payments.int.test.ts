import { newSeed } from '../seed.ts';
import {
  paymentOf,
  projectPayment,
  startGateway,
  type TestGateway,
  type TestMerchant,
} from '../testing/jest-gateway.ts';
import { refusal } from '../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;

const payments = (merchantId: string) => [
  paymentOf(`pay_${newSeed()}`, merchantId, { created_at: '2026-01-01T00:00:00.000Z' }),
  paymentOf(`pay_${newSeed()}`, merchantId, {
    created_at: '2026-01-02T00:00:00.000Z',
    status: 'orphan',
    currency: 'BTC',
  }),
  paymentOf(`pay_${newSeed()}`, merchantId, { created_at: '2026-01-03T00:00:00.000Z', payment_rail: 'gateway_pay' }),
];
let made: ReturnType<typeof payments>;

beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
  made = payments(shop.id);
  for (const payment of made) await projectPayment(gateway.pool, payment);
});
afterAll(() => gateway.close());

test('a payment is shown as it is in the read model', async () => {
  expect((await shop.send('GET', `/v1/payments/${made[1]!.id}`)).body).toEqual(made[1]);
});

test('they are listed newest first', async () => {
  expect((await shop.send('GET', '/v1/payments')).body).toEqual({
    items: [...made].reverse(),
    limit: 10,
    count: 3,
    total: 3,
    page: 1,
    totalPages: 1,
  });
});

test.each([
  ['status=orphan', [1]],
  ['currency=BTC', [1]],
  ['payment_rail=gateway_pay', [2]],
  ['payment_rail=crypto_deposit&sort=asc', [0, 1]],
  ['from_date=2026-01-02T00:00:00Z&to_date=2026-01-02T00:00:00Z', [1]],
])('%s keeps %j', async (query, kept) => {
  expect((await shop.send('GET', `/v1/payments?${query}`)).body.items).toEqual(kept.map((index) => made[index]));
});

test.each(['status=paid', 'currency=USD', 'payment_rail=cash', 'external_reference_id=x', 'limit=x'])(
  '%s is refused by name',
  async (query) => {
    const { status, body } = await shop.send('GET', `/v1/payments?${query}`);
    expect({ status, path: body.details[0].path }).toEqual({ status: 400, path: query.split('=')[0] });
  },
);

describe('a refund', () => {
  const refund = (id: string, body?: unknown, headers = {}) =>
    shop.send('POST', `/v1/payments/${id}/refund`, body, headers);
  const refunded = () => paymentOf(made[0]!.id, shop.id, { status: 'refunded', refunded_amount: '52.472200' });
  const refundIds = () => gateway.payments.calls.map(({ body }) => (body as { refund_id: string }).refund_id);
  beforeEach(() => {
    gateway.payments.calls.length = 0;
    gateway.payments.answer = () => ({ status: 200, body: { payment: refunded(), order: null } });
  });

  test.each([[undefined], [{}], [{ amount: '1.5' }], [{ amount: '1.5', reason: 'cold soup' }]])(
    'with %j goes to the payments service, and answers with the payment',
    async (body) => {
      const answer = await refund(made[0]!.id, body);
      expect([answer.status, answer.body]).toEqual([201, refunded()]);
      expect(gateway.payments.calls).toMatchObject([{ path: `/payments/${made[0]!.id}/refunds` }]);
      expect(gateway.payments.calls[0]!.body).toEqual({
        merchant_id: shop.id,
        refund_id: expect.stringMatching(/^rfd_[0-9A-Z]{26}$/),
        ...body,
      });
    },
  );

  test('that crashed between its effect and its answer is the same refund when it is repeated', async () => {
    const again = () => refund(made[0]!.id, { amount: '1' }, { 'idempotency-key': 'refund-1' });
    gateway.payments.answer = () => refusal(503, 'dependency_unavailable');
    expect((await again()).status).toBe(503);
    gateway.payments.answer = () => ({ status: 200, body: { payment: refunded(), order: null } });
    expect((await again()).status).toBe(201);
    expect((await again()).headers['idempotency-replayed']).toBe('true');
    expect(refundIds()).toHaveLength(2);
    expect(new Set(refundIds()).size).toBe(1);
  });

  test('without a key each one is another', async () => {
    await refund(made[0]!.id, { amount: '1' });
    await refund(made[0]!.id, { amount: '1' });
    expect(new Set(refundIds()).size).toBe(2);
  });

  test.each([
    [{ amount: '-1' }, 'amount'],
    [{ amount: 1 }, 'amount'],
    [{ reason: '' }, 'reason'],
    [{ surprise: 1 }, 'surprise'],
  ])('%j is refused by name', async (body, path) => {
    expect((await refund(made[0]!.id, body)).body).toMatchObject({ statusCode: 400, details: [{ path }] });
    expect(gateway.payments.calls).toHaveLength(0);
  });

  test.each([
    [409, 'nothing_to_refund'],
    [409, 'payment_conflict'],
  ])('%d %s is what the payments service says', async (status, code) => {
    gateway.payments.answer = () => refusal(status, code);
    expect((await refund(made[0]!.id)).body).toMatchObject({ statusCode: status, code });
  });

  test('of what is not there, or of another merchant, is 404', async () => {
    gateway.payments.answer = () => refusal(404, 'not_found', 'there is no such payment');
    for (const id of [`pay_${newSeed()}`, 'pay_'])
      expect((await refund(id)).body).toMatchObject({ statusCode: 404, message: 'no payment has this id' });
  });
});

test("another merchant's, an unknown and a malformed id are 404", async () => {
  const other = await gateway.merchant();
  expect((await other.send('GET', '/v1/payments')).body.total).toBe(0);
  for (const id of [made[0]!.id, `pay_${newSeed()}`, 'pay_']) {
    expect((await other.send('GET', `/v1/payments/${id}`)).body).toMatchObject({ message: 'no payment has this id' });
  }
});
