import { fromMinor, type Order, PaymentCurrency, PaymentRail, toMinor } from '@cpg/contracts';
import { refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/shared-stack.ts';

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
const refused = async (body: object) => {
  const answer = await shop.api.send('POST', '/debug/register-payment', { body });
  return { status: answer.status, code: refusalOf(answer).code };
};

const everyWay = PaymentCurrency.options.flatMap((currency) =>
  PaymentRail.options.map((rail) => [currency, rail] as const),
);

describe('a payment', () => {
  test.each(everyWay)('in %s by %s settles its order and has the fee of its rail', async (currency, rail) => {
    const order = await create({ items: [item('100', 'USD')], payment_currency: currency });
    const { total_amount } = order;
    const paid = await pay(order, total_amount, { currency, payment_rail: rail, txHash: newHash() });
    expect(paid).toMatchObject({ status: 'paid', remaining_amount: fromMinor(0n, currency) });
    const [payment] = paid.payments;
    // 50 or 100 basis points, rounded half to even.
    const part = toMinor(total_amount, currency) * (rail === 'gateway_pay' ? 50n : 100n);
    const fee = part / 10_000n + (2n * (part % 10_000n) > 10_000n ? 1n : 0n);
    expect(payment).toMatchObject({
      order_id: order.id,
      merchant_id: shop.id,
      status: 'applied',
      payment_rail: rail,
      currency,
      paid_amount: total_amount,
      applied_amount: total_amount,
      fee_amount: fromMinor(fee, currency),
      net_amount: fromMinor(toMinor(total_amount, currency) - fee, currency),
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
    expect(paid.payments[0]).toMatchObject({ applied_amount: '12.500000' });
    expect(paid.payments[0]).not.toHaveProperty('unapplied_amount');
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

describe('the same transaction reported again', () => {
  test('is the same payment', async () => {
    const order = await create();
    const txHash = newHash();
    const paid = await pay(order, '4', { txHash });
    expect(await pay(order, '4', { txHash })).toEqual(paid);
    expect(await pay(order, '4.00', { txHash })).toEqual(paid);
    expect(paid.payments).toMatchObject([{ provider_id: expect.stringContaining(txHash), tx_hash: txHash }]);
  });

  test('with another amount, currency or order is refused', async () => {
    const [order, other] = [await create(), await create()];
    const txHash = newHash();
    const paid = await pay(order, '4', { txHash });
    const report = { order_id: order.id, payment_rail: 'crypto_deposit', amount: '4', currency: 'USDT', txHash };
    for (const changes of [{ amount: '5' }, { currency: 'USDC' }, { order_id: other.id }]) {
      expect(await refused({ ...report, ...changes })).toEqual({ status: 409, code: 'payment_conflict' });
    }
    expect(await shop.api.order(order.id)).toEqual(paid);
    expect(await shop.api.order(other.id)).toEqual(other);
  });

  test('concurrently is counted once', async () => {
    const order = await create();
    const txHash = newHash();
    const answers = await Promise.all(Array.from({ length: 12 }, () => pay(order, '4', { txHash })));
    for (const answer of answers) expect(answer.payments).toHaveLength(1);
    expect(await shop.api.order(order.id)).toMatchObject({
      remaining_amount: '6.000000',
      payments: [{ status: 'applied' }],
    });
  });

  test('together with other transactions is counted once', async () => {
    const order = await create();
    const hashes = Array.from({ length: 10 }, newHash);
    await Promise.all([...hashes, ...hashes].map((txHash) => pay(order, '1', { txHash })));
    const paid = await shop.api.order(order.id);
    expect(paid).toMatchObject({ status: 'paid', remaining_amount: '0.000000' });
    expect(paid.payments.map(({ status }) => status)).toEqual(Array(10).fill('applied'));
  });
});

describe('registering a payment', () => {
  const report = { payment_rail: 'crypto_deposit', amount: '1', currency: 'USDT' };

  test('needs no API key in a sandbox', async () => {
    const order = await create();
    const answer = await shop.api.send('POST', '/debug/register-payment', {
      body: { ...report, order_id: order.id },
      headers: { 'x-api-key': shop.key },
    });
    expect(answer.status).toBe(201);
    const anonymous = await fetch(`${stack.baseUrl}/debug/register-payment`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...report, order_id: order.id }),
    });
    expect(anonymous.status).toBe(201);
    expect(await anonymous.json()).toMatchObject({ id: order.id, remaining_amount: '8.000000' });
  });

  test.each([
    ['nothing', { amount: '0' }, 'amount'],
    ['less than the smallest unit', { amount: '0.0000001' }, 'amount'],
    ['a negative amount', { amount: '-1' }, 'amount'],
    ['a number', { amount: 1 }, 'amount'],
    ['another currency', { currency: 'MXN' }, 'currency'],
    ['another rail', { payment_rail: 'cash' }, 'payment_rail'],
    ['an empty hash', { txHash: '' }, 'txHash'],
    ['an unknown field', { tx_hash: '0x1' }, 'tx_hash'],
  ])('is refused for %s, naming the field', async (_, changes, path) => {
    const order = await create();
    const body = { ...report, order_id: order.id, ...changes };
    const answer = await shop.api.send('POST', '/debug/register-payment', { body });
    expect(answer.status).toBe(400);
    expect(refusalOf(answer).details!.map((detail) => detail.path)).toEqual([path]);
    expect(await shop.api.order(order.id)).toEqual(order);
  });

  test('is not found for an unknown order', async () => {
    for (const order_id of ['ord_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'nonsense']) {
      expect(await refused({ ...report, order_id })).toEqual({ status: 404, code: 'not_found' });
    }
  });
});
