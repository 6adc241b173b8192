import { CreateOrderCall } from './orders.ts';
import { CAPABILITIES } from '../examples/values.ts';
import type { MerchantCreateOrderDto } from '../resources/order.ts';

const line = { name: 'coffee', quantity: 2, unit_price: '45.50', currency: 'MXN' } as const;
const order: MerchantCreateOrderDto = {
  external_reference_id: 'cart-1',
  items: [{ ...line, modifiers: [line] }],
  enable_rails: ['gateway_pay'],
  payment_currency: 'USDC',
  capabilities: CAPABILITIES,
  return_url: 'https://shop.example/thanks',
  cancel_url: 'https://shop.example/cart',
  metadata: { table: 'B7' },
};
const call = (changed: unknown) => ({
  order_id: 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  merchant_id: 'mer_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  order: changed,
});

test('a create passes an order on as the gateway validated it', () =>
  expect(CreateOrderCall.parse(call(order)).order).toBe(order));

test.each<[string, unknown]>([
  ['no order', undefined],
  ['text', 'order'],
  ['no items', { ...order, items: undefined }],
  ['an item without a price', { ...order, items: [{ ...line, unit_price: 1 }] }],
  ['a modifier that is no line', { ...order, items: [{ ...line, modifiers: [null] }] }],
  ['a rail in the place of a list', { ...order, enable_rails: 'gateway_pay' }],
  ['no currency', { ...order, payment_currency: null }],
  ['no capabilities', { ...order, capabilities: undefined }],
  ['a deadline in text', { ...order, expiration_minutes: '5' }],
  ['a tolerance in text', { ...order, underpayment_tolerance_percent: '1' }],
  ['a return URL that is no text', { ...order, return_url: {} }],
  ['a cancel URL that is no text', { ...order, cancel_url: 1 }],
  ['metadata in text', { ...order, metadata: 'B7' }],
])('a create with %s is refused', (_, changed) => expect(CreateOrderCall.safeParse(call(changed)).success).toBe(false));
