import { transaction } from '@cpg/platform/postgres';
import { newId } from '@cpg/platform';
import type { Delivery, Result } from '../delivery/delivery.ts';
import type { RenderedEvent } from '../delivery/render.ts';
import { sampleEvent } from './samples.ts';
import { dispatchers } from '../testing/jest-dispatchers.ts';
import { log } from '../testing/jest-log.ts';
import { claim, releaseLeases, releaseLeasesExcept } from '../queue/queue-table.ts';
import { deleteOrders, failDeliveriesOfWebhook } from '../queue/deletions.ts';
import { startLeases } from '../queue/leases.ts';
import { openPool } from '../queue/queue-table.ts';
import { enqueue, lockOrders } from './enqueue.ts';
import { enqueueRepeats } from '../replay/redelivery.ts';
import { enqueueReplayedEvents } from '../replay/replayed-events.ts';
import { recordResults } from '../queue/results.ts';

const ROUNDS = 40;
const ORDERS = 12;
const EVENTS = 3;
const now = new Date();
const today = now.toISOString().slice(0, 10);

test('deletions, results, claims, repeats and leases of the same deliveries never deadlock', async () => {
  const system = await dispatchers();
  await (await system.start()).instance.stop(0);
  const url = new URL(system.databaseUrl);
  url.searchParams.set('options', '-c deadlock_timeout=50ms');
  const pool = openPool(url.href, { max: 24, log });
  const merchantId = newId('merchant');
  const webhooks = [
    await system.webhook('https://a.example', { merchantId }),
    await system.webhook('https://b.example'),
  ];
  const disabled = await system.webhook('https://c.example', { merchantId, isEnabled: false });
  const webhookIds = [...webhooks, disabled].map(({ id }) => id);
  const leases = await startLeases({ pool, log, leaseMs: 60_000, onLost: () => {} });
  const holder = leases.holder();

  const deletedOrders: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const orderIds = Array.from({ length: ORDERS }, () => newId('order'));
    const events = orderIds.flatMap((orderId) =>
      Array.from({ length: EVENTS }, (): RenderedEvent => ({
        ...sampleEvent('order:updated', merchantId, now),
        orderId,
        isTest: false,
      })),
    );
    const deliveries = events.flatMap((event) =>
      webhookIds.map((webhookId) => ({ id: newId('delivery', now), event, webhookId, lease: true })),
    );
    const { rows } = await enqueue(pool, { events, deliveries, holder, now });
    const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
    const taken = rows.map(({ id, position }): Delivery => {
      const { event, webhookId } = byId.get(id)!;
      const { orderId, day } = event;
      return { position, id, day, webhookId, orderId, attempts: 0, attemptsBefore: null, isTest: false, event };
    });
    const resultOf = (delivery: Delivery, n: number): Result => ({
      delivery,
      attempt: { outcome: n % 3 ? 'delivered' : 'refused', startedAt: new Date(now.getTime() + n), durationMs: 1 },
      status: n % 3 ? 'delivered' : 'pending',
      nextAt: n % 3 ? null : now,
    });
    const results = taken.map(resultOf);
    const everyOther = (from: number) => results.filter((_, n) => n % 2 === from);
    // A row of an instance that has crashed, for every third delivery.
    const ofCrashed = taken.filter((_, n) => n % 3 === 2).map(({ position }) => position);
    await pool.query(`update webhooks.queue set leased_by = 'crashed' where position = any($1::bigint[])`, [ofCrashed]);
    const repeatsOf = (webhookId: string) => ({
      webhookId,
      now,
      events: events.map(({ day, id, type, orderId, body, isTest }) => ({
        ...{ day, id, type, order_id: orderId, bytes: body.length, is_test: isTest },
      })),
    });
    const remove = (ids: readonly string[]) =>
      transaction(pool, async (db) => {
        await lockOrders(db, ids);
        await deleteOrders(db, ids, now);
      });
    const deleted = orderIds.filter((_, n) => n % 3 !== 0);
    deletedOrders.push(...deleted);
    const positions = taken.map(({ position }) => position).reverse();

    await Promise.all([
      recordResults(pool, { results: everyOther(0).reverse(), holder, now }),
      recordResults(pool, { results: everyOther(1), holder, now }),
      recordResults(pool, { results, holder: 'crashed', now }),
      remove(deleted.filter((_, n) => n % 2 === 0).reverse()),
      remove(deleted.filter((_, n) => n % 2 === 1)),
      releaseLeases(pool, holder, positions),
      releaseLeasesExcept(pool, holder, positions.slice(0, 40)),
      leases.heartbeat(),
      claim(pool, { requests: webhookIds.map((webhookId) => ({ webhookId, limit: 100 })), bytes: 1e9, holder, now }),
      enqueue(pool, { events: [...events].reverse(), deliveries: [...deliveries].reverse(), holder, now }),
      failDeliveriesOfWebhook(pool, { webhookId: disabled.id, withTests: true, limit: 100, now }),
      transaction(pool, (db) => enqueueRepeats(db, repeatsOf(webhookIds[0]!))),
      transaction(pool, (db) =>
        enqueueReplayedEvents(db, { webhookId: webhookIds[1]!, events, lastingFrom: today, today, now }),
      ),
    ]);
  }

  const left = await pool.query(
    `select order_id from webhooks.queue where order_id = any($1)
     union all select order_id from webhooks.events where order_id = any($1)`,
    [deletedOrders],
  );
  expect(left.rows).toEqual([]);
  await leases.end();
  await pool.end();
  expect(await system.deadlocks()).toBe(0);
  await system.close();
});

test('a new partition waits for a reader without holding the lock of another table', async () => {
  const system = await dispatchers();
  const { instance } = await system.start();
  const reader = await system.pool.connect();
  await reader.query('begin');
  await reader.query('select from webhooks.deliveries limit 0');
  const creating = instance.partitions.ensure(['2027-01-31']);
  await system.eventually("select from pg_locks where not granted and relation = 'webhooks.deliveries'::regclass");
  await reader.query('select from webhooks.events limit 0');
  await reader.query('commit');
  reader.release();
  await creating;
  expect(await system.deadlocks()).toBe(0);
  await system.close();
});
