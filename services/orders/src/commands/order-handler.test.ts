import { fold } from '@cpg/event-sourcing/decider';
import { givenFor } from '@cpg/event-sourcing/testing';
import type { OrderCommand } from '../order/command.ts';
import { withTrustedClock } from './order-handler.ts';
import { orderDecider } from '../order/order.ts';
import { cancel, dueAt, expireAt, past } from '../testing/jest-deciding.ts';
import { createOrder, deposit, minutesAfterNoon, offer, orderCreated } from '../testing/orders.ts';

const DAY_MS = 86_400_000;
const given = (isPaused: boolean) => givenFor(withTrustedClock(orderDecider, () => isPaused));
const typesAfter = (command: OrderCommand) => past(createOrder(), command).map(({ type }) => type);
/** A clock 40 days ahead also says that the grace period for payments is over. */
const paidAhead = offer(1, 10_000_000n, { at: new Date(dueAt.getTime() + 40 * DAY_MS) });

test('an order does not expire while the clock is not trusted, neither by its timer nor by a payment', () => {
  given(true)(orderCreated()).when(expireAt(dueAt)).thenRefused('dependency_unavailable');
  given(true)(orderCreated()).when(paidAhead).thenRefused('dependency_unavailable');
  expect(typesAfter(paidAhead)).toContain('OrderExpired');
});

test('everything else goes on meanwhile', () => {
  given(true)(orderCreated()).when(cancel).thenLike({ type: 'OrderCanceled' });
});

test('money that comes before the address was assigned by a clock that ran ahead is no money of somebody else', () => {
  const create = createOrder({ instructions: [deposit('ethereum')], at: minutesAfterNoon(10) });
  const block = { providerId: 'eip155:1/0x1:0', seenAt: minutesAfterNoon(1).toISOString() };
  const paid = offer(1, 10_000_000n, { ...block, at: minutesAfterNoon(11) });
  const historyWhile = (isPaused: boolean) =>
    withTrustedClock(orderDecider, () => isPaused).decide(create, orderDecider.initial);
  given(false)(...historyWhile(false))
    .when(paid)
    .thenLike({ type: 'OrderPaymentReceived' }, { type: 'OrderPaymentsOrphaned' });
  given(false)(...historyWhile(true))
    .when(paid)
    .thenLike({ type: 'OrderPaymentReceived' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' });
});

test('only an assignment of addresses says that the clock was in doubt', () => {
  const waiting = past(createOrder({ instructions: undefined }));
  const instruct: OrderCommand = {
    type: 'InstructOrder',
    instructions: [deposit('ethereum')],
    at: minutesAfterNoon(1),
  };
  const doubt = (isPaused: boolean, command: OrderCommand) =>
    withTrustedClock(orderDecider, () => isPaused)
      .decide(command, fold(orderDecider, orderDecider.initial, waiting))
      .map(({ type, data }) => [type, 'clockDoubted' in data]);
  expect(doubt(true, instruct)).toEqual([['OrderInstructed', true]]);
  expect(doubt(false, instruct)).toEqual([['OrderInstructed', false]]);
  expect(doubt(true, cancel)).toEqual([['OrderCanceled', false]]);
});
