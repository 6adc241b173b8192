import { verify } from '@cpg/operations';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { orderMessages } from './messages.ts';
import { CONTEXT, MERCHANT, type OrdersService, startOrders } from '../testing/jest-orders.ts';
import { orderStreamOf } from '@cpg/contracts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

const TEN_USDC = { items: [{ name: 'x', quantity: 1, unit_price: '10', currency: 'USDC' }] };
const METADATA = { 2: 'b', 1: ['\u2028', -0, 1e21], é: null, nested: { z: 1, a: { '': true } } };
const update = (id: string, changes: object) =>
  service.call('PATCH', `/orders/${id}`, { merchant_id: MERCHANT, changes });

const entriesOf = async (id: string) => {
  const entries: AllStreamResolvedEvent[] = [];
  for await (const entry of service.client.readStream(orderStreamOf(id))) entries.push(entry as AllStreamResolvedEvent);
  return entries;
};

test('messages and rows are byte for byte those of a process that did not append the events', async () => {
  const paid = await service.create({ ...TEN_USDC, metadata: METADATA });
  await update(paid.id, { metadata: { ...METADATA, 0: 'first' }, expiration_minutes: 90 });
  await service.offer(paid.id, 1, 4_000_000n);
  await service.offer(paid.id, 2, 6_000_000n);
  const refund = {
    refund_id: 'rfd_01HZXAAAAAAAAAAAAAAAAAAAAA',
    refunded_total_minor: '1',
    at: new Date().toISOString(),
  };
  const refunded = (await service.rowOf(paid.id)).resource.payments[0].id as string;
  await service.call('POST', `/orders/${paid.id}/payments/${refunded}/refunds`, refund);
  const canceled = await service.create();
  await service.call('POST', `/orders/${canceled.id}/cancel`, { merchant_id: MERCHANT });

  const [withCache, without] = [orderMessages(service.client, service.recent), orderMessages(service.client)];
  const types: string[] = [];
  for (const id of [paid.id, canceled.id])
    for (const entry of await entriesOf(id)) {
      expect(service.recent.find(entry)).not.toBeNull();
      const message = await withCache(entry);
      expect(JSON.stringify(message)).toBe(JSON.stringify(await without(entry)));
      types.push(entry.event!.type);
    }
  expect(types).toEqual(expect.arrayContaining(['OrderCreated', 'OrderUpdated', 'OrderPaid', 'OrderPaymentRefunded']));
  // Two orders, and a name in the metadata of each.
  expect(await verify(service.shadowTableOptions())).toMatchObject({ rows: 4, differ: 0 });
});

test('an event of another id at the same place is not taken for a recent one', async () => {
  const { id } = await service.create();
  const [entry] = await entriesOf(id);
  const other = { ...entry!, event: { ...entry!.event!, id: '00000000-0000-4000-8000-000000000000' } };
  expect(service.recent.find(entry!)).not.toBeNull();
  expect(service.recent.find(other as AllStreamResolvedEvent)).toBeNull();
});

test('the events of another instance continue from those of this one', async () => {
  const { id } = await service.create();
  await service.other.run(id, { type: 'CancelOrder', at: service.now() }, CONTEXT);
  const [withCache, without] = [orderMessages(service.client, service.recent), orderMessages(service.client)];
  const canceled = (await entriesOf(id)).at(-1)!;
  expect(service.recent.find(canceled)).toBeNull();
  const message = await withCache(canceled);
  expect(message).not.toBeNull();
  expect(JSON.stringify(message)).toBe(JSON.stringify(await without(canceled)));
});
