import { AppError, PaymentCurrency, type PaymentRail } from '@cpg/contracts';
import { errorBody } from '@cpg/platform';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import type { TestMerchant } from '../../testing/jest-merchant.ts';
import { availabilityOf } from '../../testing/jest-resources.ts';

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

const methods = async () => {
  const { status, body } = await shop.send('GET', '/v1/merchants/me');
  expect(status).toBe(200);
  return (body.payment_methods as { type: string; supported_currencies: string[] }[]).map(
    ({ type, supported_currencies }) => [type, supported_currencies],
  );
};
const answerWith = (currencies: Record<PaymentRail, PaymentCurrency[]>) => {
  gateway.payments.respond = ({ path }) =>
    path === '/availability' ? { status: 200, body: availabilityOf(currencies) } : { status: 404 };
};

test('the payment methods leave out what no read network can take', async () => {
  answerWith({ crypto_deposit: [...PaymentCurrency.options], gateway_pay: [...PaymentCurrency.options] });
  const all = await methods();
  expect(all.map(([type]) => type)).toContain('crypto_deposit');
  answerWith({ crypto_deposit: ['USDC'], gateway_pay: [...PaymentCurrency.options] });
  expect(await methods()).toEqual(all.map(([type, each]) => [type, type === 'crypto_deposit' ? ['USDC'] : each]));
  answerWith({ crypto_deposit: [], gateway_pay: [] });
  expect(await methods()).toEqual([]);
});

test('while payments cannot say it, the payment methods are those that the operator set', async () => {
  const error = new AppError('dependency_unavailable', 'payments is unavailable');
  gateway.payments.respond = () => ({ status: error.statusCode, body: errorBody(error, 'req_1') });
  expect((await methods()).length).toBeGreaterThan(0);
});
