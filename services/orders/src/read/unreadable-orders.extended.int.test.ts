import { append } from '@cpg/event-sourcing';
import { newId } from '@cpg/platform';
import { CONTEXT, MERCHANT, type OrdersService, startOrders, until } from '../testing/jest-orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

/** Appends an event to an order that no version can read. */
const damage = async (id: string) => {
  const [created] = (await service.recordedOf(id))!;
  const event = {
    id: newId('event'),
    event: { type: 'OrderUpdated', data: { at: 'noon' } },
    metadata: created!.metadata,
  };
  expect(await append(service.client, `order-${id}`, [event], 0)).toBe('appended');
};
const parked = async () =>
  (await service.pool.query('select subscription, stream, revision from orders.parked_streams')).rows;

test('an order that cannot be read is answered with 500, is parked, and stops no other order', async () => {
  const { id } = await service.create();
  const update = (of: string) =>
    service.call('PATCH', `/orders/${of}`, { merchant_id: MERCHANT, changes: { metadata: { table: 'B7' } } });
  await damage(id);
  const { status } = await service.other.run(id, { type: 'CancelOrder', at: service.now() }, CONTEXT).then(
    () => ({ status: 'answered' }),
    ({ name }: Error) => ({ status: name }),
  );
  expect(status).toBe('UnreadableEventError');
  expect(await update(id)).toMatchObject({
    status: 500,
    body: { code: 'internal_error', request_id: expect.stringMatching(/^req_/) },
  });

  const other = await service.create();
  expect((await update(other.id)).status).toBe(200);
  await until(async () => service.messagesOf(other.id).some(({ type }) => type === 'order.updated'));
  await until(async () => (await parked()).length === 2);
  const entry = { stream: `order-${id}`, revision: '1' };
  expect(await parked()).toEqual(
    expect.arrayContaining(['relay', 'projection'].map((subscription) => ({ subscription, ...entry }))),
  );
  expect(service.messagesOf(id).map(({ type }) => type)).toEqual(['order.created']);
  expect((await service.rowOf(id)).revision).toBe('0');
});

test('the deadline of an order that cannot be read is not tried all the time', async () => {
  const { id } = await service.create();
  await damage(id);
  await service.call('PATCH', `/orders/${id}`, { merchant_id: MERCHANT, changes: { metadata: {} } });
  await service.pool.query('update orders.orders set due_at = $2 where id = $1', [id, service.now()]);
  const inHalfAnHour = Date.now() + 30 * 60_000;
  await until(async () => (await service.rowOf(id)).claimed_until?.getTime() > inHalfAnHour);
});
