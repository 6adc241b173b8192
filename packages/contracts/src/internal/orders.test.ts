import { exampleOf } from '../example.ts';
import { MerchantCreateOrderDto } from '../resources/order.ts';
import { CreateOrderCall, UpdateOrderCall } from './orders.ts';

const order = exampleOf(MerchantCreateOrderDto);
const call = (changed: unknown) => ({
  order_id: 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  merchant_id: 'mer_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  order: changed,
});

test('a create passes an order on as the gateway validated it', () =>
  expect(CreateOrderCall.parse(call(order)).order).toBe(order));

test('a create and an update do not validate again what the gateway did', () => {
  const later = { ...order, expiration_minutes: 1 };
  expect(CreateOrderCall.parse(call(later)).order).toBe(later);
  const changes = { expiration_minutes: 1 };
  expect(UpdateOrderCall.parse({ merchant_id: call(order).merchant_id, changes }).changes).toBe(changes);
});

test.each<[string, unknown]>([
  ['no order', undefined],
  ['text', 'order'],
])('a create with %s is refused', (_, changed) => expect(CreateOrderCall.safeParse(call(changed)).success).toBe(false));
