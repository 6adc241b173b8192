import { METADATA } from '@cpg/event-sourcing/testing';
import { createPool, migrate, transaction } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createLogger, newId } from '@cpg/platform';
import { verifyCounts } from '@cpg/operations';
import { type AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { MIGRATIONS } from '../migrations.ts';
import { orderDecider } from '../order/order.ts';
import type { ExistingOrder } from '../order/state.ts';
import { MERCHANT_ID, NOON, orderCreated } from '../testing/orders.ts';
import { orderCounts, orderProjection, orderWriter, projectOrders } from './order-projection.ts';
import { deletionStreamOf, orderStreamOf } from '@cpg/contracts';

const ROUNDS = 10;
const ORDERS = 24;
const INSTANCES = 3;
const log = createLogger({ name: 'test', level: 'silent' });

/** An order right after its creation, and after its cancellation. */
const statesOf = (orderId: string): [ExistingOrder, ExistingOrder] => {
  const created = orderDecider.evolve(orderDecider.initial, orderCreated({ orderId })) as ExistingOrder;
  return [created, { ...created, status: 'canceled' }];
};

const entry = (streamId: string, revision: number, type: string, data: unknown): AllStreamResolvedEvent =>
  ({
    event: {
      streamId,
      revision: BigInt(revision),
      type,
      id: '01890000-0000-7000-8000-000000000000',
      data,
      metadata: METADATA,
    },
  }) as never;

const deletionOf = (orderId: string) =>
  entry(deletionStreamOf(orderId), 0, 'OrderDeletionRecorded', {
    orderId,
    merchantId: MERCHANT_ID,
    actor: 'key:test',
    lastHash: 'h',
    paymentIds: [],
    sequence: 2,
    payables: [],
    at: NOON.toISOString(),
  });

test('requests that write and delete orders and projections of the same orders never deadlock', async () => {
  const database = await testDatabase();
  const pool = createPool({ url: database.url, name: 'test', max: 16, settings: { deadlock_timeout: '50ms' }, log });
  await migrate(pool, MIGRATIONS);
  const projection = orderProjection(EventStoreDBClient.connectionString`esdb://unused?tls=false`, {
    add: () => {},
    find: ({ event }) =>
      event?.type === 'OrderCanceled'
        ? { recorded: { revision: 1 } as never, state: statesOf(event.streamId.slice(orderStreamOf('').length))[1] }
        : null,
    stateAfter: () => null,
  });
  const writers = Array.from({ length: INSTANCES }, () => orderWriter(pool));

  const deleted: string[] = [];
  const kept: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = Array.from({ length: ORDERS }, () => newId('order'));
    await projectOrders(
      pool,
      ids.map((id) => ({ order: statesOf(id)[0], revision: 0 })),
    );
    const isDeleted = (n: number) => n % 3 === 0;
    deleted.push(...ids.filter((_, n) => isDeleted(n)));
    kept.push(...ids.filter((_, n) => !isDeleted(n)));
    // Shards of a projection have different orders. Each deletes some before it writes those with smaller ids.
    const projectShard = (shard: number) => {
      const events = ids
        .map((id, n) => (isDeleted(n) ? deletionOf(id) : entry(orderStreamOf(id), 1, 'OrderCanceled', {})))
        .filter((_, n) => n % INSTANCES === (shard + (n % 2)) % INSTANCES)
        .reverse();
      return transaction(pool, (db) => projection.apply(db, events, 'orders'));
    };
    await Promise.all([
      ...writers.map((_, shard) => projectShard(shard)),
      ...ids.map((id, n) => writers[n % INSTANCES]!(statesOf(id)[1], 1)),
      ...ids
        .filter((_, n) => isDeleted(n))
        .map((orderId) =>
          projectOrders(pool, [{ order: { status: 'deleted', orderId, merchantId: MERCHANT_ID }, revision: 2 }]),
        ),
    ]);
  }

  const { rows } = await pool.query<{ id: string; deleted: boolean; status: string | null }>(
    'select id, deleted, status from orders.orders order by deleted, id',
  );
  expect(rows).toEqual([
    ...kept.sort().map((id) => ({ id, deleted: false, status: 'canceled' })),
    ...deleted.sort().map((id) => ({ id, deleted: true, status: null })),
  ]);
  const counts = await verifyCounts(pool, { schema: 'orders', counts: orderCounts });
  expect(counts).toEqual({ differ: 0, differences: [] });
  await pool.end();
  expect(await database.deadlocks()).toBe(0);
  await database.drop();
});
