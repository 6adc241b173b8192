import { exampleOf } from '../example.ts';
import { MerchantCreateOrderDto } from '../resources/order.ts';
import { CreateOrderCall, PaymentOutcome, RefundPaymentCall, UpdateOrderCall } from './orders.ts';

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
])('a create with %s is refused', (_, changed) =>
  expect(CreateOrderCall.safeParse(call(changed)).error?.issues).toMatchObject([
    { path: ['order'], message: 'is not an object' },
  ]),
);

test('a refund names its total, and the part that refunds of the order are of it', () => {
  const refund = {
    refund_id: 'rfd_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    refunded_total_minor: '5',
    at: '2026-01-31T12:00:00.000Z',
  };
  const ofOrder = { ...refund, order_refunded_total_minor: '3' };
  expect([refund, ofOrder].map((call) => RefundPaymentCall.parse(call))).toEqual([refund, ofOrder]);
});

test.each([
  { status: 'received' },
  { status: 'applied', applied_minor: '1', unapplied_minor: '0', sighting: 2, at: '2026-01-31T12:00:00.000Z' },
  { status: 'orphan', orphan_reason: 'late', sighting: 2, at: '2026-01-31T12:00:00.000Z' },
  { status: 'failed' },
  { status: 'refunded' },
])('an order can tell payments that a payment is %j', (decided) => {
  const outcome = { payment_id: 'pay_01KGA4T1C2E4G6J8M0P2R4T6V8', ...decided };
  expect(PaymentOutcome.parse(outcome)).toEqual(outcome);
});
