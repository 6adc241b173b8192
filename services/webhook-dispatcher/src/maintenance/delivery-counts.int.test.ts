import { transaction } from '@cpg/platform/postgres';
import { newId } from '@cpg/platform';
import { type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import { countDeliveries } from './delivery-counts.ts';
import { removeCountsBefore } from '../queue/partitions.ts';

const DAYS = ['2026-01-30', '2026-01-31'] as const;

let system: Dispatchers;
beforeAll(async () => {
  system = await dispatchers();
  const { instance } = await system.start();
  await instance.stop(0);
  for (const [day, next] of [DAYS, [DAYS[1], '2026-02-01']] as const)
    await system.pool.query(
      `create table webhooks.deliveries_${day.replaceAll('-', '')} partition of webhooks.deliveries
       for values from ('${day}') to ('${next}')`,
    );
});
afterAll(() => system.close());

const at = (minute: number) => new Date(Date.parse('2026-01-31T00:00:00Z') + minute * 60_000);
const insert = async (webhook: string, count: number, day: string = DAYS[0]) => {
  for (let n = 0; n < count; n += 1)
    await system.pool.query(
      `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, created_at)
       values ($1, $2, $3, $4, 'order:paid', $5)`,
      [day, newId('event'), webhook, newId('delivery', at(n * 50)), at(n * 50)],
    );
};
const countOf = async (webhook: string, status: string | null = null) => {
  const { rows } = await system.pool.query<{ total: string }>(
    'select total from webhooks.list_deliveries(array[$1], null, $2, null, null, null, null, false, 0, 1)',
    [webhook, status && [status]],
  );
  return Number(rows[0]!.total);
};
/** How many counts differ from the rows. */
const errorsOf = async (day: string) =>
  Number((await system.pool.query('select webhooks.correct_delivery_counts($1) as errors', [day])).rows[0].errors);

test('every statement that changes deliveries keeps the counts, before and after changes are moved', async () => {
  const webhook = newId('webhook');
  await insert(webhook, 5);
  const steps = [
    ['', { pending: 5, delivered: 0, failed: 0 }],
    [
      // The service names the partition.
      `update webhooks.deliveries_20260130 set status = 'delivered' where webhook_id = $1 and id in
         (select id from webhooks.deliveries where webhook_id = $1 order by id limit 3)`,
      { pending: 2, delivered: 3, failed: 0 },
    ],
    [
      `update webhooks.deliveries set status = 'failed' where webhook_id = $1 and status = 'pending'`,
      { pending: 0, delivered: 3, failed: 2 },
    ],
    [
      `update webhooks.deliveries set day = '2026-01-31' where webhook_id = $1 and status = 'failed'`,
      { pending: 0, delivered: 3, failed: 2 },
    ],
    [
      `update webhooks.deliveries set status = 'pending' where webhook_id = $1 and status = 'failed'`,
      { pending: 2, delivered: 3, failed: 0 },
    ],
    [
      `delete from webhooks.deliveries_20260131 where webhook_id = $1 and status = 'pending'`,
      { pending: 0, delivered: 3, failed: 0 },
    ],
  ] as const;
  for (const [statement, counts] of steps) {
    if (statement) await system.pool.query(statement, [webhook]);
    for (const isMoved of [false, true]) {
      if (isMoved) await countDeliveries(system.pool);
      for (const [status, count] of Object.entries(counts)) expect(await countOf(webhook, status)).toBe(count);
    }
  }
  for (const day of DAYS) expect(await errorsOf(day)).toBe(0);
  const { rows } = await system.pool.query(
    'select from webhooks.delivery_count_spans where webhook_id = $1 and n <= 0',
    [webhook],
  );
  expect(rows).toEqual([]);
});

test('instances that move changes at the same time move each one once', async () => {
  const webhook = newId('webhook');
  await insert(webhook, 20);
  await Promise.all([countDeliveries(system.pool), countDeliveries(system.pool), insert(webhook, 5)]);
  await countDeliveries(system.pool);
  expect(await countOf(webhook)).toBe(25);
  expect(await errorsOf(DAYS[0])).toBe(0);
});

test('deliveries that are older than the triggers are counted while others change', async () => {
  const webhook = newId('webhook');
  await system.pool.query('alter table webhooks.deliveries disable trigger user');
  await insert(webhook, 6);
  await system.pool.query('alter table webhooks.deliveries enable trigger user');
  await system.pool.query('insert into webhooks.uncounted_days select * from unnest($1::date[])', [DAYS]);
  await system.pool.query(
    `update webhooks.deliveries set status = 'delivered' where webhook_id = $1 and id in
       (select id from webhooks.deliveries where webhook_id = $1 limit 2)`,
    [webhook],
  );
  await Promise.all([countDeliveries(system.pool), insert(webhook, 3, DAYS[1])]);
  while ((await system.pool.query('select from webhooks.uncounted_days')).rowCount !== 0)
    await countDeliveries(system.pool);
  expect(await countOf(webhook)).toBe(9);
  expect(await countOf(webhook, 'delivered')).toBe(2);
  for (const day of DAYS) expect(await errorsOf(day)).toBe(0);
});

test('the counts of a day go with its partition', async () => {
  const webhook = newId('webhook');
  await insert(webhook, 2, DAYS[0]);
  await countDeliveries(system.pool);
  await insert(webhook, 3, DAYS[0]);
  await insert(webhook, 4, DAYS[1]);
  await transaction(system.pool, (db) =>
    removeCountsBefore(db, DAYS[1], async () => {
      // The last statement on the partition before it is dropped.
      await system.pool.query(
        'delete from webhooks.deliveries_20260130 where ctid = (select max(ctid) from webhooks.deliveries_20260130)',
      );
      await db.query('drop table webhooks.deliveries_20260130');
    }),
  );
  expect(await countOf(webhook)).toBe(4);
});
