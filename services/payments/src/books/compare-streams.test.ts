import { logEntry } from '../testing/jest-log-entries.ts';
import { claimsIn } from './compare-streams.ts';

const [ORDER, FIRST, SECOND] = ['ord_1', 'pay_1', 'pay_2'];

test.each<[string, stream: string, type: string, data: unknown, claims: [string, string][]]>([
  ['a payment that is applied', `payment-${FIRST}`, 'PaymentApplied', { orderId: ORDER }, [[ORDER, FIRST]]],
  [
    'an order that applies payments',
    `order-${ORDER}`,
    'OrderPaymentsApplied',
    { allocations: [{ paymentId: FIRST }, { paymentId: SECOND }] },
    [
      [ORDER, FIRST],
      [ORDER, SECOND],
    ],
  ],
  ['a payment that is received', `payment-${FIRST}`, 'PaymentReceived', { orderId: ORDER }, []],
  ['an order that orphans payments', `order-${ORDER}`, 'OrderPaymentsOrphaned', { paymentIds: [FIRST] }, []],
  ['an order of other data', `order-${ORDER}`, 'OrderPaid', { allocations: [{ paymentId: FIRST }] }, []],
  ['a payment without an order', `payment-${FIRST}`, 'PaymentApplied', {}, []],
  ['an order without allocations', `order-${ORDER}`, 'OrderPaymentsApplied', { allocations: 'all' }, []],
  [
    'allocations that cannot be read',
    `order-${ORDER}`,
    'OrderPaymentsApplied',
    { allocations: [null, {}, { paymentId: 7 }, { paymentId: SECOND }] },
    [[ORDER, SECOND]],
  ],
  ['an event without data', `payment-${FIRST}`, 'PaymentApplied', null, []],
])('%s says which money was applied to which order', (_, stream, type, data, claims) =>
  expect(claimsIn(logEntry(stream, type, data))).toEqual(
    claims.map(([orderId, paymentId]) => ({ orderId, paymentId })),
  ),
);
