import { startVendure, TEST_PAYMENT, type VendureOrder, type VendureShop } from './vendure-shop.ts';

let shop: VendureShop;
beforeAll(async () => void (shop = await startVendure()));
afterAll(() => shop.close());

test("a cart is bought, settled and refunded by Vendure's own test payment", async () => {
  const shopper = shop.shopper();
  const cart = await shopper.createCart();
  expect(cart).toMatchObject({ state: 'ArrangingPayment', totalWithTax: 1550, currencyCode: 'USD' });
  const paid = (await shopper.pay(TEST_PAYMENT)) as VendureOrder;
  expect(paid).toMatchObject({ state: 'PaymentAuthorized', payments: [{ amount: 1550, state: 'Authorized' }] });
  const paymentId = paid.payments![0]!.id;
  expect(await shop.staff.settle(paymentId)).toEqual({ state: 'Settled' });
  // The test payment pays nothing back, so the refund waits for the staff.
  expect(await shop.staff.refund(paymentId, 550)).toMatchObject({ total: 550, state: 'Pending' });
  expect(await shopper.order(cart.code)).toMatchObject({
    state: 'PaymentSettled',
    payments: [{ state: 'Settled', refunds: [{ total: 550 }] }],
  });
});

test('a declined payment leaves a cart', async () => {
  const shopper = shop.shopper();
  await shopper.createCart();
  expect(await shopper.pay(TEST_PAYMENT, { shouldDecline: true })).toMatchObject({
    errorCode: 'PAYMENT_DECLINED_ERROR',
  });
  expect(await shopper.cart()).toMatchObject({ state: 'ArrangingPayment' });
});

test('prices in yen have no decimals', async () => {
  expect(await shop.shopper('JPY').createCart()).toMatchObject({ currencyCode: 'JPY' });
});

test('orders survive a kill of the shop', async () => {
  const shopper = shop.shopper();
  const cart = await shopper.createCart();
  await shopper.pay(TEST_PAYMENT);
  await shop.kill();
  await shop.start();
  expect(await shop.staff.order(cart.id)).toMatchObject({ state: 'PaymentAuthorized' });
});
