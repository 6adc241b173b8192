import { logEntry } from '../testing/jest-log-entries.ts';
import { claimsIn } from './compare-streams.ts';

const [ORDER, FIRST, SECOND] = ['ord_1', 'pay_1', 'pay_2'];

type Named = [orderId: string, paymentId: string, isApplied: boolean];

test.each<[string, stream: string, type: string, data: unknown, claims: Named[]]>([
  ['a payment that is applied', `payment-${FIRST}`, 'PaymentApplied', { orderId: ORDER }, [[ORDER, FIRST, true]]],
  [
    'an order that applies payments',
    `order-${ORDER}`,
    'OrderPaymentsApplied',
    { allocations: [{ paymentId: FIRST }, { paymentId: SECOND }] },
    [
      [ORDER, FIRST, true],
      [ORDER, SECOND, true],
    ],
  ],
  ['a payment that is received', `payment-${FIRST}`, 'PaymentReceived', { orderId: ORDER }, [[ORDER, FIRST, false]]],
  [
    'an order that sees a payment',
    `order-${ORDER}`,
    'OrderPaymentReceived',
    { payment: { paymentId: SECOND } },
    [[ORDER, SECOND, false]],
  ],
  ['an order that sees nothing', `order-${ORDER}`, 'OrderPaymentReceived', { payment: null }, []],
  ['an order that orphans payments', `order-${ORDER}`, 'OrderPaymentsOrphaned', { paymentIds: [FIRST] }, []],
  ['an order of other data', `order-${ORDER}`, 'OrderPaid', { allocations: [{ paymentId: FIRST }] }, []],
  ['a payment without an order', `payment-${FIRST}`, 'PaymentApplied', {}, []],
  ['an order without allocations', `order-${ORDER}`, 'OrderPaymentsApplied', { allocations: 'all' }, []],
  [
    'allocations that cannot be read',
    `order-${ORDER}`,
    'OrderPaymentsApplied',
    { allocations: [null, {}, { paymentId: 7 }, { paymentId: SECOND }] },
    [[ORDER, SECOND, true]],
  ],
  ['an event without data', `payment-${FIRST}`, 'PaymentApplied', null, []],
])('%s names payments of orders, and says which are applied', (_, stream, type, data, claims) =>
  expect(claimsIn(logEntry(stream, type, data))).toEqual(
    claims.map(([orderId, paymentId, isApplied]) => ({ orderId, paymentId, isApplied })),
  ),
);
