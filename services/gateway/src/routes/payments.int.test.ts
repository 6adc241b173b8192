import { newSeed } from '../seed.ts';
import {
  paymentOf,
  projectPayment,
  startGateway,
  type TestGateway,
  type TestMerchant,
} from '../testing/jest-gateway.ts';

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

test("another merchant's, an unknown and a malformed id are 404", async () => {
  const other = await gateway.merchant();
  expect((await other.send('GET', '/v1/payments')).body.total).toBe(0);
  for (const id of [made[0]!.id, `pay_${newSeed()}`, 'pay_']) {
    expect((await other.send('GET', `/v1/payments/${id}`)).body).toMatchObject({ message: 'no payment has this id' });
  }
});
