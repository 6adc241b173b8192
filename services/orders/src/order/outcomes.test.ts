import { after, existing, refund } from '../testing/jest-deciding.ts';
import { createOrder, deposit, minutesAfterNoon, offer, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { outcomeOf, outcomesOf } from './outcomes.ts';

test('an outcome names the sighting that it is about, unless that is the first', () => {
  const paid = (sighting?: number) =>
    outcomeOf(existing(after(createOrder(), offer(1, 10_000_000n, { sighting }))).payments[0]!);
  expect(paid(2)).toMatchObject({ status: 'applied', payment_id: paymentId(1), sighting: 2 });
  expect(paid()).not.toHaveProperty('sighting');
});

test('the outcome of a payment with excess names the smallest amount in which the order can be paid', () => {
  const smallest = { ...deposit('ethereum'), smallestPayableMinor: '1000' };
  const outcome = (...commands: OrderCommand[]) => outcomeOf(existing(after(...commands)).payments[0]!);
  const paid = offer(1, 12_000_000n);
  expect(outcome(createOrder({ instructions: [smallest] }), paid)).toMatchObject({
    unapplied_minor: '2000000',
    smallest_payable_minor: '1000',
  });
  expect(outcome(createOrder(), paid)).not.toHaveProperty('smallest_payable_minor');
});

test('the outcome of an applied payment has the time of the decision, also after a later refund of a part', () => {
  const paid = [createOrder(), offer(1, 12_000_000n)];
  const outcome = (...commands: OrderCommand[]) => outcomeOf(existing(after(...paid, ...commands)).payments[0]!);
  expect(outcome(refund(1, 1n, minutesAfterNoon(20)))).toEqual(outcome());
});

test('the outcome of a payment that the order does not record names its sighting', () => {
  const order = existing(after(createOrder()));
  expect(outcomesOf(order, offer(2, 10_000_000n, { sighting: 3 }), [])).toMatchObject([
    { status: 'orphan', payment_id: paymentId(2), orphan_reason: 'too_many_payments', sighting: 3 },
  ]);
});
