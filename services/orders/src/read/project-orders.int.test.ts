import { orderStreamOf } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { MIGRATIONS } from '../migrations.ts';
import type { ExistingOrder } from '../order/state.ts';
import { after, cancel, existing } from '../testing/jest-deciding.ts';
import { createOrder, DUE, minutesAfterNoon, NOON, offer } from '../testing/orders.ts';
import { orderProjection, projectOrders } from './order-projection.ts';

let database: Awaited<ReturnType<typeof migratedDatabase>>;
let pool: Pool;
beforeAll(async () => {
  database = await migratedDatabase(MIGRATIONS);
  pool = database.pool;
});
afterAll(() => database.stop());
beforeEach(() => pool.query('delete from orders.orders'));

const created = existing(after(createOrder()));
const paid = existing(after(createOrder(), offer(1, 10_000_000n)));
const canceled = existing(after(createOrder(), cancel));
const { orderId, merchantId } = created;
const deleted = { status: 'deleted', orderId, merchantId } as const;

const project = (order: ExistingOrder | typeof deleted, revision: number) => projectOrders(pool, [{ order, revision }]);
const row = async () => (await pool.query('select * from orders.orders')).rows[0];
const shown = async () => {
  const { status, revision, deleted: isDeleted } = await row();
  return [status, Number(revision), isDeleted];
};

test('the row of an order is that of its latest revision, in whatever order they come', async () => {
  await project(paid, 3);
  for (const revision of [2, 3]) await project(canceled, revision);
  expect(await shown()).toEqual(['paid', 3, false]);
  await project(canceled, 4);
  expect(await shown()).toEqual(['canceled', 4, false]);
});

test('the row of a deleted order stays cleared, whatever comes later', async () => {
  await project(paid, 3);
  await project(deleted, 3);
  expect(await row()).toMatchObject({
    id: orderId,
    merchant_id: merchantId,
    external_reference_id: null,
    status: null,
    currency: null,
    resource: null,
    due_at: null,
    deleted: true,
  });
  await project(paid, 9);
  expect(await shown()).toEqual([null, 3, true]);
});

test('the tombstone of an order is not read: the deletion record has cleared the row', async () => {
  await project(deleted, 3);
  const event = { type: '$streamDeleted', streamId: orderStreamOf(orderId), revision: 2n ** 63n - 1n };
  const unread = {} as EventStoreDBClient;
  await orderProjection(unread).apply(pool, [{ event } as unknown as AllStreamResolvedEvent], 'orders');
  expect(await shown()).toEqual([null, 3, true]);
});

test('a new state of an order ends the claim of its timer', async () => {
  await project(created, 0);
  await pool.query('update orders.orders set claimed_until = now()');
  await project(paid, 1);
  expect((await row()).claimed_until).toBeNull();
});

test.each<[string, ExistingOrder, string | null]>([
  ['at its deadline', created, DUE],
  [
    'soon while it has no instructions',
    existing(after(createOrder({ instructions: undefined }))),
    new Date(NOON.getTime() + 2_000).toISOString(),
  ],
  ['never once it is paid', paid, null],
  ['never once it is canceled', canceled, null],
])('the timer looks at an order %s', async (_, order, dueAt) => {
  await project(order, 0);
  expect((await row()).due_at?.toISOString() ?? null).toBe(dueAt);
});

test('the row of an order has all that lists show and search for', async () => {
  const order = existing(
    after(createOrder(), {
      type: 'UpdateOrder',
      metadata: { table: 4 },
      rateLockMaxMinutes: 60,
      at: minutesAfterNoon(1),
    }),
  );
  await project(order, 1);
  expect(await row()).toMatchObject({
    id: orderId,
    merchant_id: merchantId,
    external_reference_id: 'cart-1',
    status: 'awaiting_payment',
    currency: 'USDC',
    created_at: NOON,
    last_event_at: minutesAfterNoon(1),
    resource: { id: orderId, metadata: { table: 4 } },
  });
  await projectOrders(pool, []);
});
