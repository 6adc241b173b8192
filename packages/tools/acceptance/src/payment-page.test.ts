import { Checkout, type Order } from '@cpg/contracts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;

beforeAll(async () => {
  shop = await openShop(stack);
});
afterAll(() => shop.api.close());

const urlOf = ({ deposit_instructions }: Order): string =>
  deposit_instructions.find((instruction) => instruction.rail === 'gateway_pay')!.payment_url;
const checkoutOf = async (order: Order) =>
  Checkout.parse(await (await fetch(urlOf(order), { headers: { accept: 'application/json' } })).json());

test('the link of an order opens its payment page, which follows the payments', async () => {
  const order = await shop.api.createOrder(orderBody({ metadata: { note: 'for the merchant' } }));
  const page = await fetch(urlOf(order));
  const html = await page.text();
  expect([page.status, page.headers.get('set-cookie')]).toEqual([200, null]);
  for (const shown of ['Ada Test', 'Coffee', '10.00 USDT']) expect(html).toContain(shown);
  for (const hidden of [shop.id, order.id, 'ada@shop.example', 'cart-1', 'for the merchant'])
    expect(html).not.toContain(hidden);

  const uris = order.deposit_instructions.flatMap((each) => (each.rail === 'crypto_deposit' ? [each.payment_uri] : []));
  const { state, ways } = await checkoutOf(order);
  // The page has an address of its own where a chain is read.
  const withoutAddress = (uri?: string) => uri?.replace(/address=\w+/, '');
  expect(state).toBe('waiting');
  expect(ways.map(({ payment_uri }) => withoutAddress(payment_uri))).toEqual(uris.map(withoutAddress));
  const pay = (amount: string) =>
    shop.api.pay({ order_id: order.id, payment_rail: 'crypto_deposit', amount, currency: 'USDT' });
  await pay('4');
  expect(await checkoutOf(order)).toMatchObject({ state: 'partially_paid', remaining: '6.000000' });
  await pay('6');
  expect(await checkoutOf(order)).toMatchObject({ state: 'paid', ways: [] });
});

test('the page of a deleted order and of an unknown reference answer the same', async () => {
  const order = await shop.api.createOrder(orderBody());
  await shop.api.deleteOrder(order.id);
  const answers = await Promise.all(
    [urlOf(order), urlOf(order).replace(/\w{26}$/, 'A'.repeat(26))].map(async (url) => {
      const { status, headers, text } = await shop.api.send('GET', new URL(url).pathname, {
        headers: { accept: 'text/html' },
      });
      const { date: _, 'x-request-id': __, ...same } = headers;
      return { status, headers: same, text };
    }),
  );
  expect(answers[0]).toEqual({ ...answers[1], status: 404 });
});
