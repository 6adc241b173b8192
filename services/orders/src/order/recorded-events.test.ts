import { NewOrderEvent, ORDER_EVENTS, OrderDeletionEvent, OrderEvent } from '@cpg/contracts';
import { testRecordedEvents } from '@cpg/event-sourcing/testing/recorded-events';
import { orderMessage } from '../read/messages.ts';
import { streamsByRelease } from '../testing/jest-recorded.ts';
import { recordStreams } from '../testing/record.ts';
import { orderDecider } from './order.ts';
import { type ExistingOrder, exists, type Order } from './state.ts';
import { orderView } from './view.ts';

const versions = streamsByRelease();
const streamsOf = (prefix: string) =>
  versions.map(([version, streams]) => [version, streams.filter(({ stream }) => stream.startsWith(prefix))] as const);
const [firstRecorded] = streamsOf('order-')[0]![1][0]!.events;

// When this fails, this version records another shape. `pnpm --filter @cpg/orders record <version>` writes the file of
// the next release. The files of releases never change.
test('the newest file is what this version records', () => expect(recordStreams()).toEqual(versions.at(-1)![1]));

testRecordedEvents({
  versions: streamsOf('order-'),
  schema: OrderEvent,
  eventTypes: ORDER_EVENTS.map(({ type }) => type),
  decider: orderDecider,
  show: (order: Order) => orderView(order.status === 'deleted' ? order.lastState : (order as ExistingOrder)),
  publish: orderMessage,
  isPublished: exists,
});

test('deletion records are read without loss', () => {
  const records = streamsOf('deletion-').flatMap(([, streams]) => streams.flatMap(({ events }) => events));
  expect(records).not.toEqual([]);
  for (const { type, data } of records) expect(OrderDeletionEvent.parse({ type, data })).toEqual({ type, data });
});

test('a new event must not have a field that the schema does not name', () => {
  const { type, data } = firstRecorded!;
  const withinLimits = {
    ...data,
    items: [{ name: 'tea', quantity: 1, unit_price: '1', currency: 'USD' }],
    metadata: {},
  };
  expect(NewOrderEvent.safeParse({ type, data: withinLimits }).success).toBe(true);
  expect(NewOrderEvent.safeParse({ type, data: { ...withinLimits, tip: '1' } }).success).toBe(false);
});

test('an event beyond the limits of requests is read, and cannot be written', () => {
  const { type, data } = firstRecorded!;
  const item = { name: 'x'.repeat(10_000), quantity: 2_000_000.123456789, unit_price: '1.123456789', currency: 'USD' };
  const beyond = { type, data: { ...data, items: [item], metadata: { long: 'x'.repeat(20_000) } } };
  expect(OrderEvent.parse(beyond)).toEqual(beyond);
  expect(NewOrderEvent.safeParse(beyond).success).toBe(false);
});
