import { after, existing } from '../testing/jest-deciding.ts';
import { createOrder, offer, paymentId } from '../testing/orders.ts';
import { outcomeOf, outcomesOf } from './outcomes.ts';

test('an outcome names the sighting that it is about, unless that is the first', () => {
  const paid = (sighting?: number) =>
    outcomeOf(existing(after(createOrder(), offer(1, 10_000_000n, { sighting }))).payments[0]!);
  expect(paid(2)).toMatchObject({ status: 'applied', payment_id: paymentId(1), sighting: 2 });
  expect(paid()).not.toHaveProperty('sighting');
});

test('the outcome of a payment that the order does not record names its sighting', () => {
  const order = existing(after(createOrder()));
  expect(outcomesOf(order, offer(2, 10_000_000n, { sighting: 3 }), [])).toMatchObject([
    { status: 'orphan', payment_id: paymentId(2), orphan_reason: 'too_many_payments', sighting: 3 },
  ]);
});
