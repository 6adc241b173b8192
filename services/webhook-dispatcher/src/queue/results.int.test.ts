import { type Queryable, transaction } from '@cpg/platform/postgres';
import { newId } from '@cpg/platform';
import type { Result } from '../delivery/delivery.ts';
import { sampleEvent } from '../ingest/samples.ts';
import { type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import { recordResults } from './results.ts';

const now = new Date();
let system: Dispatchers;
beforeAll(async () => {
  system = await dispatchers();
  const { instance } = await system.start();
  await instance.stop(0);
});
afterAll(() => system.close());

const resultFor = (webhookId: string, { second, isSuccess }: { second: number; isSuccess: boolean }): Result => ({
  delivery: {
    position: '1',
    id: newId('delivery'),
    day: now.toISOString().slice(0, 10),
    webhookId,
    orderId: newId('order'),
    attempts: 0,
    attemptsBefore: null,
    isTest: false,
    event: sampleEvent('order:paid', newId('merchant'), now),
  },
  attempt: {
    outcome: isSuccess ? 'delivered' : 'refused',
    startedAt: new Date(now.getTime() + second * 1_000),
    durationMs: 1,
    statusCode: isSuccess ? 200 : 500,
  },
  status: isSuccess ? 'delivered' : 'failed',
  nextAt: null,
});
const record = (results: readonly Result[]) => recordResults(system.pool, { results, holder: 'test', now });
const failuresOf = async (webhookId: string) => {
  const { rows } = await system.pool.query(
    `select attempts::int, extract(epoch from last_at - since)::int as seconds from webhooks.failing
     where webhook_id = $1 and attempts > 0`,
    [webhookId],
  );
  return rows;
};

/** How many rows of the tables with this name `work` reads. */
const rowsReadBy = (work: (db: Queryable) => Promise<unknown>, tables: string): Promise<number> =>
  transaction(system.pool, async (db) => {
    await work(db);
    const { rows } = await db.query<{ read: number }>(
      `select sum(seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables
       where schemaname = 'webhooks' and relname like $1`,
      [tables],
    );
    return rows[0]!.read;
  });

test('counts each failed attempt once, even when its result is recorded twice', async () => {
  const webhookId = newId('webhook');
  const first = [0, 10].map((second) => resultFor(webhookId, { second, isSuccess: false }));
  await record(first);
  await record([...first, resultFor(webhookId, { second: 20, isSuccess: false })]);
  expect(await failuresOf(webhookId)).toEqual([{ attempts: 3, seconds: 20 }]);
});

test('a success resets the count, and its repetition does not hide later failures', async () => {
  const [recovered, other] = [newId('webhook'), newId('webhook')];
  const success = resultFor(recovered, { second: 30, isSuccess: true });
  const failure = (webhookId: string, second: number) => resultFor(webhookId, { second, isSuccess: false });
  await record([failure(recovered, 0), failure(other, 0)]);
  await record([success, failure(other, 10)]);
  expect([await failuresOf(recovered), await failuresOf(other)]).toEqual([[], [{ attempts: 2, seconds: 10 }]]);
  await record([failure(recovered, 40), failure(recovered, 45)]);
  await record([success]);
  expect(await failuresOf(recovered)).toEqual([{ attempts: 2, seconds: 5 }]);
});

test('reads the delivery of a result, and no others of its webhook', async () => {
  const webhookId = newId('webhook');
  const result = resultFor(webhookId, { second: 0, isSuccess: true });
  const { day, event, id } = result.delivery;
  await system.pool.query(
    `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, created_at)
     select $1::date, name, $2, name, 'order:paid', now() from generate_series(1, 1000) as n, concat('other ', n) as name
     union all select $1::date, $3, $2, $4, 'order:paid', now()`,
    [day, webhookId, event.id, id],
  );
  const rowsRead = await rowsReadBy(
    (db) => recordResults(db, { results: [result], holder: 'test', now }),
    'deliveries%',
  );
  expect(rowsRead).toBeLessThan(10);
  const { rows } = await system.pool.query('select status from webhooks.deliveries where id = $1', [id]);
  expect(rows).toEqual([{ status: 'delivered' }]);
});

test('reads the row of work of a failed attempt, and no others that the instance has leased', async () => {
  const webhookId = newId('webhook');
  const { rows } = await system.pool.query<{ position: string; delivery_id: string }>(
    `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, due_at, leased_by)
     select $1::date, name, $2, name, name, 10, now(), 'test' from generate_series(1, 1000) as n, concat('leased ', n) as name
     returning position, delivery_id`,
    [now, webhookId],
  );
  const { position, delivery_id: id } = rows[500]!;
  const failed = resultFor(webhookId, { second: 0, isSuccess: false });
  const result: Result = { ...failed, delivery: { ...failed.delivery, position, id }, status: 'pending', nextAt: now };
  const record = (holder: string) => rowsReadBy((db) => recordResults(db, { results: [result], holder, now }), 'queue');
  expect(await record('another instance')).toBeLessThan(10);
  expect(await record('test')).toBeLessThan(10);
  const freed = await system.pool.query('select position from webhooks.queue where leased_by is null');
  expect(freed.rows).toEqual([{ position }]);
});

test('a result leaves the row of another delivery that has its position', async () => {
  const result = resultFor(newId('webhook'), { second: 0, isSuccess: true });
  const { rows } = await system.pool.query<{ position: string }>(
    `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, due_at, leased_by)
     values ($1, 'another', 'another', 'another', 'another', 10, now(), 'test') returning position`,
    [now],
  );
  const { position } = rows[0]!;
  const lost = { ...result.delivery, position };
  for (const status of ['delivered', 'pending'] as const)
    await recordResults(system.pool, {
      results: [{ ...result, delivery: lost, status, nextAt: status === 'pending' ? now : null }],
      holder: 'test',
      now,
    });
  const left = await system.pool.query('select leased_by from webhooks.queue where position = $1', [position]);
  expect(left.rows).toEqual([{ leased_by: 'test' }]);
});
