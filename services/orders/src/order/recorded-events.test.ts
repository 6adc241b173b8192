import { NewOrderEvent, ORDER_EVENTS, OrderDeletionEvent, OrderEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { eventHash, genesisHash } from '@cpg/event-sourcing';
import { orderMessage } from '../read/messages.ts';
import { recordedVersions } from '../testing/jest-recorded.ts';
import { type RecordedOrder, recordStreams } from '../testing/record.ts';
import { orderDecider } from './order.ts';
import type { ExistingOrder, Order } from './state.ts';
import { orderView } from './view.ts';

const versions = recordedVersions();
const orderStreams = versions.flatMap(([version, streams]) =>
  streams
    .filter(({ stream }) => stream.startsWith('order-'))
    .map((recorded): [string, string, RecordedOrder] => [version, recorded.stream, recorded]),
);

const read = ({ events }: RecordedOrder): OrderEvent[] =>
  events.map(({ type, data }) => OrderEvent.parse({ type, data }));
const lastStateOf = (order: Order): ExistingOrder =>
  order.status === 'deleted' ? order.lastState : (order as ExistingOrder);
const viewOf = (events: OrderEvent[]) => orderView(lastStateOf(fold(orderDecider, orderDecider.initial, events)));
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const UNKNOWN = 'field_of_a_newer_version';
const MAPS = new Set(['rates', 'orphanReasons', 'sightings']);

/** Adds an unknown field to every object, except maps whose keys are data. */
const withUnknownFields = <T>(value: T, key = ''): T => {
  if (Array.isArray(value)) return value.map((part: unknown) => withUnknownFields(part)) as T;
  if (typeof value !== 'object' || value === null || key === 'metadata') return value;
  const parts = Object.entries(value).map(([name, part]) => [name, withUnknownFields(part as unknown, name)] as const);
  return { ...Object.fromEntries(parts), ...(!MAPS.has(key) && { [UNKNOWN]: 1 }) } as T;
};

const withoutUnknownFields = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUnknownFields);
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).filter(([name]) => name !== UNKNOWN);
  return Object.fromEntries(known.map(([name, part]) => [name, withoutUnknownFields(part)]));
};

// When this fails, this version records another shape. `pnpm --filter @cpg/orders record <version>` writes the file of
// the next release. The files of releases never change.
test('the newest file is what this version records', () => expect(recordStreams()).toEqual(versions.at(-1)![1]));

test('the committed files hold every event type', () => {
  const types = new Set(orderStreams.flatMap(([, , { events }]) => events.map(({ type }) => type)));
  expect(types).toEqual(new Set(ORDER_EVENTS.map(({ type }) => type)));
});

describe.each(orderStreams)('version %s, %s', (_version, stream, recorded) => {
  test('is read without loss', () => {
    expect(read(recorded)).toEqual(recorded.events.map(({ type, data }) => ({ type, data })));
  });

  test('folds to the order that the API showed', () => {
    expect(json(viewOf(read(recorded)))).toEqual(recorded.resource ?? expect.anything());
  });

  test('has an intact hash chain', () => {
    let previousHash = genesisHash(stream);
    for (const { type, data, metadata } of recorded.events) {
      expect(metadata.previousHash).toBe(previousHash);
      previousHash = eventHash(previousHash, { type, data });
      expect(metadata.hash).toBe(previousHash);
    }
  });
});

test('deletion records are read without loss', () => {
  const streams = versions.flatMap(([, each]) => each).filter(({ stream }) => stream.startsWith('deletion-'));
  const records = streams.flatMap(({ events }) => events);
  expect(records).not.toEqual([]);
  for (const { type, data } of records) expect(OrderDeletionEvent.parse({ type, data })).toEqual({ type, data });
});

describe.each(orderStreams)('version %s, %s with events of a newer version', (_version, _stream, recorded) => {
  const { at } = recorded.events[0]!.data;
  const unknownEvent = { type: 'OrderGifted', data: { at, giftedTo: 'Ana' } };
  const newer = recorded.events.flatMap(({ type, data }) => [
    { type, data: withUnknownFields(data) },
    unknownEvent,
  ]) as OrderEvent[];

  test('keeps unknown fields and unknown events as they are recorded', () => {
    for (const event of newer) expect(OrderEvent.parse(event)).toEqual(event);
  });

  test('folds to the same order', () => {
    const view = viewOf([unknownEvent as never, ...newer].map((event) => OrderEvent.parse(event)));
    expect(withoutUnknownFields(json(view))).toEqual(recorded.resource ?? expect.anything());
  });

  test('publishes unknown fields, and no message for an unknown event', () => {
    let order: Order = orderDecider.initial;
    for (const [revision, event] of newer.entries()) {
      order = orderDecider.evolve(order, OrderEvent.parse(event));
      const metadata = {
        actor: 'a',
        requestId: 'r',
        $correlationId: 'c',
        $causationId: 'd',
        previousHash: '',
        hash: '',
      };
      const id = 'evt_01KGA4T3G6Z5Y7X9W1V3T5R7Q9';
      const message = orderMessage({ stream: '', revision, id, event, metadata }, order);
      const isPublished = event.type !== unknownEvent.type && order.status !== 'deleted';
      expect(message?.data.change ?? null).toEqual(isPublished ? event.data : null);
    }
  });
});

test('a new event must not have a field that the schema does not name', () => {
  const { type, data } = orderStreams[0]![2].events[0]!;
  const withinLimits = {
    ...data,
    items: [{ name: 'tea', quantity: 1, unit_price: '1', currency: 'USD' }],
    metadata: {},
  };
  expect(NewOrderEvent.safeParse({ type, data: withinLimits }).success).toBe(true);
  expect(NewOrderEvent.safeParse({ type, data: { ...withinLimits, tip: '1' } }).success).toBe(false);
});

test('an event beyond the limits of requests is read, and cannot be written', () => {
  const { type, data } = orderStreams[0]![2].events[0]!;
  const item = { name: 'x'.repeat(10_000), quantity: 2_000_000.123456789, unit_price: '1.123456789', currency: 'USD' };
  const beyond = { type, data: { ...data, items: [item], metadata: { long: 'x'.repeat(20_000) } } };
  expect(OrderEvent.parse(beyond)).toEqual(beyond);
  expect(NewOrderEvent.safeParse(beyond).success).toBe(false);
});
