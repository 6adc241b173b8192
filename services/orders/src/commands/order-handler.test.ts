import { fold } from '@cpg/event-sourcing/decider';
import { givenFor } from '@cpg/event-sourcing/testing';
import type { Logger } from '@cpg/platform';
import type { OrderCommand } from '../order/command.ts';
import type { Order } from '../order/state.ts';
import { type OrderHandler, withOrderLog, withTrustedClock } from './order-handler.ts';
import { orderDecider } from '../order/order.ts';
import { cancel, dueAt, expireAt, past, remove, renew } from '../testing/jest-deciding.ts';
import { createOrder, deposit, MERCHANT_ID, minutesAfterNoon, NOON, offer, orderCreated } from '../testing/orders.ts';

const CONTEXT = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };
const DAY_MS = 86_400_000;
const given = (isPaused: boolean) => givenFor(withTrustedClock(orderDecider, () => isPaused));
const typesAfter = (command: OrderCommand) => past(createOrder(), command).map(({ type }) => type);
/** A clock 40 days ahead also says that the grace period for payments is over. */
const paidAhead = offer(1, 10_000_000n, { at: new Date(dueAt.getTime() + 40 * DAY_MS) });

test.each<[OrderCommand[], string[]]>([
  [[createOrder()], ['order created']],
  [
    [createOrder(), offer(1, 10_000_000n)],
    ['order created', 'order paid'],
  ],
  [
    [createOrder(), { type: 'UpdateOrder', rateLockMaxMinutes: 60, metadata: {}, at: NOON }],
    ['order created', 'order updated'],
  ],
  [
    [createOrder({ allow: { expiration_auto_renewal: true } }), renew(10_000_000n)],
    ['order created', 'order renewed'],
  ],
  [
    [createOrder(), expireAt(dueAt)],
    ['order created', 'order expired'],
  ],
  [
    [createOrder(), cancel, remove],
    ['order created', 'order canceled', 'order deleted'],
  ],
])('each fact of an order is one line of the log, with its ids: %#', async (commands, sentences) => {
  const lines: unknown[][] = [];
  let order: Order = orderDecider.initial;
  const handler = {
    handle: async (_: string, command: OrderCommand) => {
      const decided = orderDecider.decide(command, order);
      order = fold(orderDecider, order, decided);
      return { state: order, events: decided.map((event) => ({ event })) };
    },
  } as unknown as OrderHandler;
  const log = { info: (...line: unknown[]) => void lines.push(line) } as unknown as Logger;
  for (const command of commands) await withOrderLog(handler, log).handle('ord_1', command, CONTEXT);
  const ids = expect.objectContaining({ orderId: 'ord_1', merchantId: MERCHANT_ID });
  expect(lines).toEqual(sentences.map((sentence) => [ids, sentence]));
});

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
