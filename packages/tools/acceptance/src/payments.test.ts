import { decimalsIn, fromMinor, type Order, PaymentCurrency, PaymentRail, toMinor } from '@cpg/contracts';
import { openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let hashes = 0;

beforeAll(async () => {
  shop = await openShop(stack);
});
afterAll(() => shop.api.close());

const newHash = () => `0x${process.pid.toString(16)}${Date.now().toString(16)}${(hashes += 1)}`;
const create = (changes = {}) => shop.api.createOrder(orderBody(changes));
const pay = ({ id }: Order, amount: string, more = {}) =>
  shop.api.pay({ order_id: id, payment_rail: 'crypto_deposit', amount, currency: 'USDT', ...more });
const everyWay = PaymentCurrency.options.flatMap((currency) =>
  PaymentRail.options.map((rail) => [currency, rail] as const),
);

describe('a payment', () => {
  test.each(everyWay)('in %s by %s settles its order and has the fee of its rail', async (currency, rail) => {
    const order = await create({ items: [item('100', 'USD')], payment_currency: currency });
    const { total_amount } = order;
    const decimals = decimalsIn(total_amount);
    const paid = await pay(order, total_amount, { currency, payment_rail: rail, txHash: newHash() });
    expect(paid).toMatchObject({ status: 'paid', remaining_amount: fromMinor(0n, decimals) });
    const [payment] = paid.payments;
    // 50 or 100 basis points, rounded half to even.
    const part = toMinor(total_amount, decimals) * (rail === 'gateway_pay' ? 50n : 100n);
    const fee = part / 10_000n + (2n * (part % 10_000n) > 10_000n ? 1n : 0n);
    expect(payment).toMatchObject({
      order_id: order.id,
      merchant_id: shop.id,
      status: 'applied',
      payment_rail: rail,
      currency,
      paid_amount: total_amount,
      applied_amount: total_amount,
      fee_amount: fromMinor(fee, decimals),
      net_amount: fromMinor(toMinor(total_amount, decimals) - fee, decimals),
    });
    expect(await shop.api.payment(payment!.id)).toEqual(payment);
  });

  test('in part reduces the remaining amount of the order and of its instructions', async () => {
    const order = await create();
    const first = await pay(order, '3.5');
    expect(first).toMatchObject({ status: 'partially_paid', remaining_amount: '6.500000' });
    for (const { amount } of first.deposit_instructions) expect(amount).toBe('6.500000');
    const second = await pay(order, '0.000001');
    expect(second).toMatchObject({ status: 'partially_paid', remaining_amount: '6.499999' });
    const last = await pay(order, '6.499999');
    expect(last).toMatchObject({ status: 'paid', remaining_amount: '0.000000' });
    expect(last.payments.map(({ paid_amount, status }) => [paid_amount, status])).toEqual([
      ['3.500000', 'applied'],
      ['0.000001', 'applied'],
      ['6.499999', 'applied'],
    ]);
  });

  test('of too much settles the order and leaves the surplus unapplied', async () => {
    const paid = await pay(await create(), '12.5');
    expect(paid).toMatchObject({
      status: 'paid',
      total_amount: '10.000000',
      remaining_amount: '0.000000',
      payments: [{ paid_amount: '12.500000', applied_amount: '10.000000', unapplied_amount: '2.500000' }],
    });
  });

  test('of too much is applied in full where overpaying is allowed', async () => {
    const paid = await pay(await create({ capabilities: { can_overpay: true } }), '12.5');
    expect(paid).toMatchObject({ status: 'paid', remaining_amount: '0.000000' });
    expect(paid.payments[0]).toMatchObject({ applied_amount: '12.500000', unapplied_amount: '0.000000' });
  });

  test('in part is held where partial payments are not allowed, until the held payments settle the order', async () => {
    const order = await create({ capabilities: { partial_payments: false } });
    const held = await pay(order, '4');
    expect(held).toMatchObject({
      status: 'awaiting_payment',
      remaining_amount: '10.000000',
      payments: [{ status: 'received' }],
    });
    expect(await shop.api.payment(held.payments[0]!.id)).toEqual(held.payments[0]);
    const paid = await pay(order, '6');
    expect(paid).toMatchObject({ status: 'paid', payments: [{ status: 'applied' }, { status: 'applied' }] });
    for (const payment of paid.payments) expect(await shop.api.payment(payment.id)).toEqual(payment);
  });
});

describe('an unapplied payment', () => {
  test('for a paid order is an orphan', async () => {
    const order = await create();
    await pay(order, '10');
    const after = await pay(order, '1');
    expect(after).toMatchObject({ status: 'paid', payments: [{ status: 'applied' }, { status: 'orphan' }] });
    expect(await shop.api.payment(after.payments[1]!.id)).toMatchObject({
      status: 'orphan',
      orphan_reason: 'already_paid',
    });
  });

  test('for a canceled order is an orphan', async () => {
    const order = await create();
    await shop.api.cancel(order.id);
    const after = await pay(order, '10');
    expect(after).toMatchObject({ status: 'canceled', remaining_amount: '10.000000' });
    expect(after.payments).toMatchObject([{ status: 'orphan', orphan_reason: 'canceled' }]);
  });

  test('in another currency than its order is an orphan', async () => {
    const order = await create();
    const after = await pay(order, '0.5', { currency: 'BTC' });
    expect(after).toMatchObject({ status: 'awaiting_payment', remaining_amount: '10.000000' });
    const { items } = await shop.api.payments({ currency: 'BTC', status: 'orphan', limit: 100 });
    expect(items).toContainEqual(
      expect.objectContaining({
        order_id: order.id,
        orphan_reason: 'wrong_currency',
        paid_amount: '0.50000000',
        currency: 'BTC',
      }),
    );
  });
});
