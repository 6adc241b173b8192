import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ORDER_EVENTS, OrderEvent } from '@cpg/contracts';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import { EventStoreDBClient } from '@eventstore/db-client';
import { MIGRATIONS } from '../migrations.ts';
import { orderDecider } from '../order/order.ts';
import { exists, type Order } from '../order/state.ts';
import { streamsByRelease } from '../testing/jest-recorded.ts';
import { orderProjection, projectOrders } from './order-projection.ts';

const { version } = orderProjection(EventStoreDBClient.connectionString`esdb://unused?tls=false`);

/** The SHA-256 of each row of the recorded orders, as the projection's version makes it. */
const FILE = join(import.meta.dirname, `../testing/projected-rows.v${version}.json`);

// When this fails, increment `version` of the projection and add a file for it: the rows of running installations are
// rebuilt only for a new version. A file never changes, except that recorded orders are added.
test('the rows of recorded orders change only with the version of the projection', async () => {
  const { pool, stop } = await migratedDatabase(MIGRATIONS);
  for (const { events } of streamsByRelease().flatMap(([, streams]) => streams)) {
    let order: Order = orderDecider.initial;
    for (const { type, data, revision } of events.filter(isOrderEvent)) {
      order = orderDecider.evolve(order, OrderEvent.parse({ type, data }));
      if (exists(order)) await projectOrders(pool, [{ order, revision }]);
    }
  }
  const { rows } = await pool.query<{ id: string }>('select * from orders.orders order by id collate "C"');
  await stop();
  const digests = rows.map((row) => [row.id, createHash('sha256').update(JSON.stringify(row)).digest('hex')]);
  expect(Object.fromEntries(digests)).toEqual(JSON.parse(readFileSync(FILE, 'utf8')));
});

const isOrderEvent = ({ type }: { type: string }): boolean => ORDER_EVENTS.some((known) => known.type === type);
