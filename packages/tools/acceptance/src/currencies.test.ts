import { type ItemCurrency, type PaymentRail, toMinor, fromMinor, priceDecimals } from '@cpg/contracts';
import { type Client, createClient } from '@cpg/sdk';
import { openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let client: Client;
beforeAll(async () => {
  shop = await openShop(stack);
  client = createClient({ baseUrl: stack.baseUrl, apiKey: shop.key });
});
afterAll(() => shop.api.close());

const limitsOf = async (currency: string, rail: PaymentRail) => {
  const { payment_currencies: accepted } = await client.getCurrencies();
  return accepted.find((each) => each.currency === currency)!.rails.find((each) => each.rail === rail)!;
};

test('every price currency can be used in a sandbox, and every coin on both rails', async () => {
  const { price_currencies, payment_currencies } = await client.getCurrencies();
  expect(price_currencies.filter(({ is_available }) => !is_available)).toEqual([]);
  expect(payment_currencies.map(({ currency }) => currency)).toEqual(['USDT', 'USDC', 'USDG', 'BTC', 'ETH', 'CAZ']);
  for (const { rails } of payment_currencies)
    expect(rails.map(({ rail, is_available }) => [rail, is_available])).toEqual([
      ['gateway_pay', true],
      ['crypto_deposit', true],
    ]);
});

test.each<[ItemCurrency, 'BTC' | 'USDC' | 'ETH', PaymentRail]>([
  ['JPY', 'BTC', 'crypto_deposit'],
  ['KWD', 'BTC', 'crypto_deposit'],
  ['MXN', 'ETH', 'crypto_deposit'],
  ['CLP', 'USDC', 'crypto_deposit'],
  ['JPY', 'USDC', 'gateway_pay'],
])('an order in %s may cost the minimum in %s on %s, and not less', async (currency, coin, rail) => {
  const { limits } = await limitsOf(coin, rail);
  const { minimum_amount: minimum } = limits.find((each) => each.currency === currency)!;
  const decimals = priceDecimals(currency);
  const bodyOf = (unit_price: string) =>
    orderBody({ items: [item(unit_price, currency)], payment_currency: coin, enable_rails: [rail] });
  const order = await shop.api.createOrder(bodyOf(minimum));
  expect(order).toMatchObject({ status: 'awaiting_payment', item_totals: { [currency]: minimum } });
  const less = fromMinor(toMinor(minimum, decimals) - 1n, decimals);
  const { status, body } = await shop.api.send('POST', '/v1/orders', { body: bodyOf(less) });
  // One unit less than the smallest price of all is nothing at all.
  expect([status, body.code]).toEqual([400, /[1-9]/.test(less) ? 'amount_too_small' : 'invalid_request']);
});

test('an order may cost the maximum, and not more', async () => {
  const { limits } = await limitsOf('USDC', 'gateway_pay');
  const { maximum_amount: maximum } = limits.find((each) => each.currency === 'KWD')!;
  const bodyOf = (unit_price: string) =>
    orderBody({ items: [item(unit_price, 'KWD')], payment_currency: 'USDC', enable_rails: ['gateway_pay'] });
  expect((await shop.api.createOrder(bodyOf(maximum))).item_totals).toEqual({ KWD: maximum });
  const more = fromMinor(toMinor(maximum, 3) + 1n, 3);
  expect((await shop.api.send('POST', '/v1/orders', { body: bodyOf(more) })).body.code).toBe('invalid_request');
});

test.each([
  ['JPY', '1500', '3000', '3,000 JPY', '19.200000'],
  ['KWD', '0.125', '0.250', '0.250 KWD', '0.815000'],
] as const)(
  'prices in %s are exact in the order, on the page, and after a refund',
  async (currency, price, sum, shown, total) => {
    const items = [item(price, currency, { quantity: 2 })];
    const order = await shop.api.createOrder(
      orderBody({ items, payment_currency: 'USDC', enable_rails: ['gateway_pay'] }),
    );
    expect(order).toMatchObject({ items, item_totals: { [currency]: sum }, total_amount: total });
    const page = await fetch(order.payment_url!, { headers: { 'accept-language': 'en' } });
    expect(await page.text()).toContain(shown);
    const paid = await client.registerPayment({
      order_id: order.id,
      payment_rail: 'gateway_pay',
      amount: total,
      currency: 'USDC',
      txHash: `0xcur${process.pid}-${currency}`,
    });
    expect(paid).toMatchObject({ status: 'paid', remaining_amount: '0.000000' });
    const refunded = await client.refundPayment(paid.payments[0]!.id, { what: 'all' });
    expect(refunded).toMatchObject({ status: 'refunded', refunded_amount: total });
  },
);

test('a price with more decimals than its currency is refused', async () => {
  const body = orderBody({ items: [item('1500.5', 'JPY')] });
  const answer = await shop.api.send('POST', '/v1/orders', { body });
  expect([answer.status, answer.body.message]).toEqual([
    400,
    'items.0.unit_price: JPY has 0 decimals, this amount has 1',
  ]);
});
