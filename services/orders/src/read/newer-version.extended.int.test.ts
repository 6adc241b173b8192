import { append, endOf, linkEvents, verifyHashChains } from '@cpg/event-sourcing';
import { newContext } from '@cpg/platform';
import { rebuild, verify } from '@cpg/operations';
import { type OrdersService, startOrders, until } from '../testing/jest-orders.ts';

// A newer version of orders runs beside this one and records events that this one does not know.

let service: OrdersService;

beforeAll(async () => {
  service = await startOrders();
});

afterAll(() => service.stop());

/** Appends events as a newer version would: with a valid hash chain. */
const appendNewer = async (orderId: string, events: { type: string; data: object }[]) => {
  const recorded = (await service.recordedOf(orderId))!;
  const last = recorded.at(-1)!;
  const stream = `order-${orderId}`;
  const appended = linkEvents(events, stream, endOf(stream, last), newContext('service:orders'), {
    causationId: last.id,
  });
  expect(await append(service.client, stream, appended, last.revision)).toBe('appended');
};

test('an unknown event and an unknown field stop nothing', async () => {
  const { id } = await service.create();
  const at = new Date().toISOString();
  await appendNewer(id, [
    { type: 'OrderGifted', data: { at, giftedTo: 'Ana' } },
    { type: 'OrderUpdated', data: { at, metadata: { table: 1 }, tip: '1.00', changedBy: { name: 'Ana' } } },
    { type: 'OrderGifted', data: { at, giftedTo: 'Eva' } },
  ]);

  const projected = await until(async () => (await service.rowOf(id)).revision === '3' && service.rowOf(id));
  expect(projected.resource).toMatchObject({ metadata: { table: 1 }, status: 'awaiting_payment' });

  const messages = await until(async () => service.messagesOf(id).length === 2 && service.messagesOf(id));
  expect(messages.map(({ type }) => type)).toEqual(['order.created', 'order.updated']);
  expect(messages[1]!.data.change).toEqual({
    at,
    metadata: { table: 1 },
    tip: '1.00',
    changedBy: { name: 'Ana' },
  });

  const offered = await service.offer(id, 1, 1_000_000n);
  expect(offered).toMatchObject({ status: 200, body: { order: { status: 'partially_paid', metadata: { table: 1 } } } });
  expect((await service.recordedOf(id))!.map(({ event }) => event.type)).toEqual([
    'OrderCreated',
    'OrderGifted',
    'OrderUpdated',
    'OrderGifted',
    'OrderPaymentReceived',
    'OrderPaymentsApplied',
  ]);

  const range = `from=2000-01-01T00:00:00.000Z&to=2100-01-01T00:00:00.000Z`;
  const history = await service.call('GET', `/orders/${id}/history?${range}`);
  expect(history.body.messages[1].message).toMatchObject({ type: 'OrderGifted', data: { giftedTo: 'Ana' } });
  const published = await service.call('GET', `/orders/${id}/messages?${range}`);
  expect(published.body.messages.map(({ message }: { message: { type: string } }) => message.type)).toEqual([
    'order.created',
    'order.updated',
    'order.payment_received',
    'order.payments_applied',
  ]);

  const signal = new AbortController().signal;
  expect(await verifyHashChains(service.client, { prefixes: ['order-'], signal })).toMatchObject({
    events: 6,
    faults: 0,
  });
  await rebuild(service.shadowTableOptions());
  expect(await verify(service.shadowTableOptions())).toMatchObject({ differ: 0 });
});
