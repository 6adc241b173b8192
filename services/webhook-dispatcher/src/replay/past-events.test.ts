import { AppError, type HistoryOrdersQuery, type HistoryQuery } from '@cpg/contracts';
import { message } from '../testing/jest-dispatchers.ts';
import { type History, historyClient, loadReplayBatch } from './past-events.ts';
import type { ClaimedReplay, ReplayRow } from './replay-table.ts';

const AT = new Date('2026-01-31T12:00:00.000Z');
const RANGE = { from: AT.toISOString(), to: AT.toISOString() };
const REPLAY: ReplayRow & Pick<ClaimedReplay, 'filter'> = {
  ...{ id: 'rpl_1', webhook_id: 'whk_1', merchant_id: 'mer_1', from_at: AT, to_at: AT, event_types: ['order:paid'] },
  ...{ events: 0, reached_order: null, order_id: null, order_place: null, failures: 0, deferred: [], filter: null },
};

/** What an order has: its payments of one page, or an error. */
type Past =
  | Error
  | {
      readonly places: readonly string[];
      readonly more?: boolean;
      readonly merchantId?: string;
      readonly metadata?: Record<string, string>;
    };
const BROKEN = new AppError('internal_error', 'broken');

/** A history with these orders, each at the place of its id. */
const load = async (
  replay: Partial<typeof REPLAY>,
  orders: Readonly<Record<string, Past>>,
  { next = null, deferred = {} }: { next?: string | null; deferred?: Readonly<Record<string, Past>> } = {},
) => {
  const asked: { merchantId: string; orders: HistoryOrdersQuery[]; events: Record<string, HistoryQuery> } = {
    ...{ merchantId: '', orders: [], events: {} },
  };
  const page = (kind: 'order' | 'payment') => async (id: string, query: HistoryQuery) => {
    asked.events[`${kind} ${id}`] = query;
    const past = { ...orders, ...deferred }[id]!;
    if (past instanceof Error) throw past;
    const { places, more = false, merchantId = 'mer_1', metadata = {} } = past;
    const type = kind === 'order' ? 'order.paid' : 'payment.applied';
    const messages = places.map((place) => ({ place, message: message({ type, merchantId, orderId: id, metadata }) }));
    return { messages, more };
  };
  const history = {
    ordersOf: async (merchantId: string, query: HistoryOrdersQuery) => {
      asked.merchantId = merchantId;
      asked.orders.push(query);
      return { orders: Object.keys(orders).map((id) => ({ id, place: `at ${id}` })), next };
    },
    ofOrder: page('order'),
    ofPayments: page('payment'),
  } as unknown as History;
  const batch = await loadReplayBatch(history, { ...REPLAY, ...replay }, 10, new AbortController().signal);
  return { ...batch, asked, events: batch.events.map(({ orderId, type }) => `${orderId} ${type}`) };
};
const at = (afterOrder: string | null, within: object | null = null) => ({ afterOrder, within });

test('asks for the orders of the merchant after the last one, in its range', async () => {
  const { asked } = await load({ reached_order: 'at a' }, { b: { places: ['1'] } });
  expect([asked.merchantId, asked.orders]).toEqual(['mer_1', [{ ...RANGE, after: 'at a', limit: 10 }]]);
  expect(asked.events).toEqual({ 'order b': { ...RANGE, after: undefined } });
});

test('a range before 1970 starts then', async () => {
  const { asked } = await load({ from_at: new Date(-1) }, {});
  expect(asked.orders).toEqual([{ ...RANGE, from: '1970-01-01T00:00:00.000Z', after: undefined, limit: 10 }]);
});

test.each([
  [['order:paid'], ['order a']],
  [['payment:applied'], ['payment a']],
  [
    ['order:paid', 'payment:applied'],
    ['order a', 'payment a'],
  ],
])('events of %j are read from the services that have them', async (types, services) => {
  const { asked, events } = await load({ event_types: types }, { a: { places: ['1'] } });
  expect(Object.keys(asked.events)).toEqual(services);
  expect(events.sort()).toEqual(types.map((type) => `a ${type}`));
});

test('has the chosen events of the merchant alone', async () => {
  const { events } = await load({}, { a: { places: ['1'] }, b: { places: ['1'], merchantId: 'mer_2' } });
  expect(events).toEqual(['a order:paid']);
  expect((await load({ event_types: ['order:created'] }, { a: { places: ['1'] } })).events).toEqual([]);
});

test.each<[string, string | null, ReturnType<typeof at>, boolean]>([
  ['the last', null, at('at b'), true],
  ['a further', 'at z', at('at z'), false],
])('%s batch of whole orders moves to its end', async (_, next, cursor, isLast) => {
  const batch = await load({}, { a: { places: ['1'] }, b: { places: ['2'] } }, { next });
  expect(batch).toMatchObject({ events: ['a order:paid', 'b order:paid'], cursor, deferred: [], isLast });
});

test('a batch without orders keeps its place, and is the last', async () => {
  expect(await load({ reached_order: 'at a' }, {})).toMatchObject({ events: [], cursor: at('at a'), isLast: true });
});

test('an order with more events than a page is continued after its last one', async () => {
  const first = await load({ reached_order: 'at 0' }, { a: { places: ['1'] }, b: { places: ['2', '3'], more: true } });
  expect(first).toMatchObject({ cursor: at('at a', { id: 'b', afterEvent: '3' }), isLast: false });
  expect(first.events).toHaveLength(3);
  const { asked, cursor } = await load(
    { order_id: 'b', order_place: '3', reached_order: 'at a' },
    { b: { places: ['4'] } },
  );
  expect(asked.orders).toEqual([{ ...RANGE, after: 'at a', limit: 1 }]);
  expect(asked.events).toEqual({ 'order b': { ...RANGE, after: '3' } });
  expect(cursor).toEqual(at('at b'));
});

test('keeps only events that pass the filter of the webhook', async () => {
  const orders = { a: { places: ['1'], metadata: { shop: 'b2c' } }, b: { places: ['2'], metadata: { shop: 'b2b' } } };
  const { events, cursor } = await load({ filter: { shop: 'b2c' } }, { ...orders, c: { places: ['3'] } });
  expect({ events, cursor }).toEqual({ events: ['a order:paid'], cursor: at('at c') });
});

describe('an order that cannot be read', () => {
  test('ends the batch before it', async () => {
    expect(await load({}, { a: { places: ['1'] }, b: BROKEN, c: { places: ['1'] } }, { next: 'at z' })).toMatchObject({
      ...{ events: ['a order:paid'], cursor: at('at a'), isLast: false },
    });
  });

  test.each([
    ['a second time', 2, BROKEN],
    ['while its service is unavailable', 9, new AppError('dependency_unavailable', 'away')],
  ])('at the start of a batch fails it %s', async (_, failures, error) => {
    await expect(load({ failures }, { a: error })).rejects.toBe(error);
  });

  test('a fourth time is deferred, and the others go on', async () => {
    expect(await load({ failures: 3, deferred: ['x'] }, { a: BROKEN, b: { places: ['1'] } })).toMatchObject({
      ...{ events: ['b order:paid'], cursor: at('at b'), deferred: ['x', 'a'], isLast: false },
    });
  });

  test('is behind the place of a batch that deferred it', async () => {
    expect(await load({ failures: 3 }, { a: BROKEN })).toMatchObject({ cursor: at('at a'), deferred: ['a'] });
  });

  test('is read again after all others', async () => {
    const replay = { deferred: ['a', 'b'], reached_order: 'at z' };
    const readable = { a: { places: ['1'] }, b: { places: ['1'] } };
    expect(await load(replay, {}, { deferred: readable })).toMatchObject({
      ...{ events: ['a order:paid'], cursor: at('at z'), deferred: ['b'], isLast: false },
    });
    expect(await load({ ...replay, deferred: ['b'] }, {}, { deferred: readable })).toMatchObject({ isLast: true });
  });

  test('stays deferred until all its pages are read, and goes to the end when it fails again', async () => {
    const replay = { deferred: ['a', 'b'], reached_order: 'at z', failures: 3 };
    expect(await load(replay, {}, { deferred: { a: { places: ['1'], more: true } } })).toMatchObject({
      ...{ cursor: at('at z', { id: 'a', afterEvent: '1' }), deferred: ['a', 'b'] },
    });
    expect((await load(replay, {}, { deferred: { a: BROKEN } })).deferred).toEqual(['b', 'a']);
  });
});

test.each(['ordersOf', 'ofOrder'])('a replay that is stopped while it waits for %s loads nothing', async (name) => {
  const stopping = new AbortController();
  const stopIn = (call: string) => {
    if (call === name) stopping.abort(new Error('stopped'));
  };
  const history = {
    ordersOf: async () => {
      stopIn('ordersOf');
      return { orders: [{ id: 'a', place: 'at a' }], next: null };
    },
    ofOrder: async () => {
      stopIn('ofOrder');
      return { messages: [], more: false };
    },
  } as unknown as History;
  await expect(loadReplayBatch(history, REPLAY, 10, stopping.signal)).rejects.toThrow('stopped');
});

test.each<[name: keyof History, service: string, path: string]>([
  ['ordersOf', 'orders', '/merchants/an id/orders'],
  ['ofOrder', 'orders', '/orders/an id/messages'],
  ['ofPayments', 'payments', '/orders/an id/messages'],
])('%s asks %s, for no longer than a stop may take', async (name, service, path) => {
  const calls: unknown[] = [];
  const clientOf = (asked: string) => ({ call: async (...call: unknown[]) => void calls.push([asked, ...call]) });
  const clients = { orders: clientOf('orders'), payments: clientOf('payments') };
  const query = { ...RANGE, limit: 1 };
  await historyClient(clients as unknown as Parameters<typeof historyClient>[0])[name]('an id', query);
  const context = expect.objectContaining({ actor: 'service:webhook-dispatcher' });
  const options = { context, query, response: expect.anything(), timeoutMs: 4_000, connectRetryMs: 0 };
  expect(calls).toEqual([[service, 'GET', path, options]]);
});
