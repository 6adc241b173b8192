import { pathsOf, requestRefusal } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;

beforeAll(async () => {
  shop = await openShop(stack);
});
afterAll(() => shop.api.close());

const refusalTo = (body: unknown) => requestRefusal(shop.api, 'POST', '/v1/orders', { body });
const line = item('1', 'USD');
const expectRefused = async (changes: Record<string, unknown>, path: string) => {
  const refusal = await refusalTo({ ...orderBody(), ...changes });
  expect(refusal).toMatchObject({ error: 'Bad Request', statusCode: 400, code: 'invalid_request' });
  expect(pathsOf(refusal)).toContain(path);
};

describe('an order is refused, naming the field of its items, for', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['no items', { items: [] }, 'items'],
    ['101 items', { items: Array(101).fill(line) }, 'items'],
    ['21 modifiers', { items: [{ ...line, modifiers: Array(21).fill(line) }] }, 'items.0.modifiers'],
    ['a quantity of 0', { items: [{ ...line, quantity: 0 }] }, 'items.0.quantity'],
    ['a negative quantity', { items: [{ ...line, quantity: -1 }] }, 'items.0.quantity'],
    ['a quantity above a million', { items: [{ ...line, quantity: 1_000_000.000001 }] }, 'items.0.quantity'],
    ['seven decimals of a quantity', { items: [{ ...line, quantity: 0.0000001 }] }, 'items.0.quantity'],
    ['a quantity that is a string', { items: [{ ...line, quantity: '1' }] }, 'items.0.quantity'],
    ['a signed price', { items: [{ ...line, unit_price: '+1' }] }, 'items.0.unit_price'],
    ['an exponent', { items: [{ ...line, unit_price: '1e3' }] }, 'items.0.unit_price'],
    ['a leading zero', { items: [{ ...line, unit_price: '01' }] }, 'items.0.unit_price'],
    ['a space', { items: [{ ...line, unit_price: ' 1' }] }, 'items.0.unit_price'],
    ['19 digits before the point', { items: [{ ...line, unit_price: '1'.repeat(19) }] }, 'items.0.unit_price'],
    ['a negative price of a product', { items: [{ ...line, unit_price: '-1' }] }, 'items.0.unit_price'],
    ['a discount that would raise the total', { items: [line, { ...line, kind: 'discount' }] }, 'items.1.unit_price'],
    ['an unknown kind', { items: [{ ...line, kind: 'tip' }] }, 'items.0.kind'],
    ['a fraction of a cent', { items: [{ ...line, unit_price: '0.001' }] }, 'items.0.unit_price'],
    ['a price that is a number', { items: [{ ...line, unit_price: 1 }] }, 'items.0.unit_price'],
    ['an item in BTC', { items: [{ ...line, currency: 'BTC' }] }, 'items.0.currency'],
  ])('%s', (_, changes, path) => expectRefused(changes, path));
});

describe('an order is refused, naming the field, for', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['a currency in lower case', { payment_currency: 'usdt' }, 'payment_currency'],
    ['a payment in MXN', { payment_currency: 'MXN' }, 'payment_currency'],
    ['no rail', { enable_rails: [] }, 'enable_rails'],
    ['a rail twice', { enable_rails: ['gateway_pay', 'gateway_pay'] }, 'enable_rails'],
    ['an unknown rail', { enable_rails: ['cash'] }, 'enable_rails.0'],
    ['a total of 0', { items: [{ ...line, unit_price: '0' }] }, 'items'],
    [
      'discounts in a currency without items',
      { items: [line, { ...line, kind: 'discount', unit_price: '-0.01', currency: 'MXN' }] },
      'items',
    ],
    ['an empty reference', { external_reference_id: '' }, 'external_reference_id'],
    ['a reference of 129 characters', { external_reference_id: 'x'.repeat(129) }, 'external_reference_id'],
    ['four minutes', { expiration_minutes: 4 }, 'expiration_minutes'],
    ['more than thirty days', { expiration_minutes: 43_201 }, 'expiration_minutes'],
    ['half a minute', { expiration_minutes: 5.5 }, 'expiration_minutes'],
    ['metadata that is a list', { metadata: [] }, 'metadata'],
    ['metadata over 16 KiB', { metadata: { x: 'x'.repeat(16 * 1024) } }, 'metadata'],
    ['a missing capability', { capabilities: { can_cancel: true } }, 'capabilities.can_update'],
    [
      'a capability that is not a boolean',
      { capabilities: { ...orderBody().capabilities, can_cancel: 'yes' } },
      'capabilities.can_cancel',
    ],
    ['an unknown field', { customer: 'x' }, 'customer'],
    ['an unknown field of an item', { items: [{ ...line, sku: 'x' }] }, 'items.0.sku'],
    [
      'a total with more than 18 integer digits',
      { items: [{ ...line, unit_price: '9'.repeat(18), quantity: 2 }] },
      'items',
    ],
  ])('%s', (_, changes, path) => expectRefused(changes, path));

  test('all invalid fields at once', async () => {
    const refusal = await refusalTo({
      external_reference_id: 7,
      items: [{ name: '', quantity: 0, unit_price: 'x', currency: 'YEN', sku: 1 }],
      enable_rails: ['cash'],
      payment_currency: 'XRP',
      capabilities: null,
      expiration_minutes: 1,
      what: true,
    });
    expect(pathsOf(refusal).sort()).toEqual([
      'capabilities',
      'enable_rails.0',
      'expiration_minutes',
      'external_reference_id',
      'items.0.currency',
      'items.0.name',
      'items.0.quantity',
      'items.0.sku',
      'items.0.unit_price',
      'payment_currency',
      'what',
    ]);
    for (const { message } of refusal.details!) expect(message).toMatch(/\w/);
  });

  test('all missing fields at once, also those for which the merchant has no default', async () => {
    expect(pathsOf(await refusalTo({})).sort()).toEqual([
      ...['capabilities', 'enable_rails', 'external_reference_id', 'items', 'payment_currency'],
    ]);
  });

  test('a refused order is not stored', async () => {
    const reference = 'refused';
    await refusalTo({ ...orderBody({ external_reference_id: reference }), extra: 1 });
    expect((await shop.api.orders({ external_reference_id: reference })).total).toBe(0);
  });
});
