import type { Order } from '@cpg/contracts';
import { refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
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
const refused = async (body: object) => {
  const answer = await shop.api.send('POST', '/debug/register-payment', { body });
  return { status: answer.status, code: refusalOf(answer).code };
};

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
