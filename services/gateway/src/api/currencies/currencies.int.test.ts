import { type AcceptedCurrency, type Currencies, type PaymentCurrency, type PaymentRail } from '@cpg/contracts';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import type { TestMerchant } from '../../testing/jest-merchant.ts';

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway();
  // It accepts USDC and BTC as deposits, and USDC by gateway_pay.
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

const limit = (currency: 'MXN' | 'JPY') => ({ currency, minimum_amount: '1', maximum_amount: '100' });
const rail = (name: PaymentRail, more: Partial<AcceptedCurrency['rails'][number]> = {}) => ({
  rail: name,
  is_available: true,
  networks: [],
  limits: [limit('MXN')],
  ...more,
});
const currency = (name: PaymentCurrency, ...rails: AcceptedCurrency['rails']): AcceptedCurrency => ({
  currency: name,
  decimals: 6,
  rails,
});

const answerWith = (...payment_currencies: AcceptedCurrency[]) => {
  gateway.orders.respond = ({ path }) =>
    path === '/currencies' ? { status: 200, body: { payment_currencies } } : { status: 404 };
};
const currencies = async () => {
  const { status, body, headers } = await shop.send('GET', '/v1/currencies');
  expect(status).toBe(200);
  return { ...(body as Currencies), headers };
};

test('the merchant sees its own rails and currencies alone, and each price currency with its decimals', async () => {
  answerWith(
    currency('USDC', rail('crypto_deposit'), rail('gateway_pay')),
    currency('BTC', rail('crypto_deposit', { limits: [limit('JPY')] }), rail('gateway_pay')),
    currency('ETH', rail('crypto_deposit'), rail('gateway_pay')),
  );
  const { payment_currencies, price_currencies, headers } = await currencies();
  expect(payment_currencies).toEqual([
    currency('USDC', rail('crypto_deposit'), rail('gateway_pay')),
    currency('BTC', rail('crypto_deposit', { limits: [limit('JPY')] })),
  ]);
  expect(price_currencies.filter(({ is_available }) => is_available)).toEqual([
    { currency: 'MXN', decimals: 2, is_available: true },
    { currency: 'JPY', decimals: 0, is_available: true },
  ]);
  expect(price_currencies).toContainEqual({
    currency: 'KWD',
    decimals: 3,
    is_available: false,
    unavailable_reason: 'rate_unavailable',
  });
  expect(headers['cache-control']).toBe('private, max-age=60');
  expect(headers.vary).toMatch(/x-api-key/);
});

test('a price currency that only an unread network could pay is not available, and says so', async () => {
  const closed = { is_available: false, unavailable_reason: 'network_unavailable' } as const;
  answerWith(currency('USDC', rail('crypto_deposit', closed)));
  const { payment_currencies, price_currencies } = await currencies();
  expect(payment_currencies[0]!.rails).toEqual([rail('crypto_deposit', closed)]);
  expect(price_currencies[0]).toEqual({ currency: 'MXN', decimals: 2, ...closed });
});

test('an answer that failed is not kept', async () => {
  gateway.orders.respond = () => ({ status: 503, body: { code: 'dependency_unavailable', message: 'x' } });
  const { status, headers } = await shop.send('GET', '/v1/currencies');
  expect([status, headers['cache-control']]).toEqual([503, 'no-store']);
});
