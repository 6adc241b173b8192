import { DEFAULT_RETENTION } from '../queue/partitions.ts';
import { type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { inDays, maintainAt } from '../testing/jest-maintenance.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

test('drops bodies after 30 days, deliveries with their counts and attempts after 90, and creates future partitions', async () => {
  const { consume, webhooks } = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId })]);
  await system.eventually('select 1 from webhooks.attempts');
  const rowCounts = async () => {
    const counts = await Promise.all(
      ['events', 'deliveries', 'attempts'].map((table) => system.pool.query(`select count(*) from webhooks.${table}`)),
    );
    const { rows } = await system.pool.query(
      'select total::int from webhooks.list_deliveries(array[$1], null, null, null, null, null, null, false, 0, 1)',
      [id],
    );
    return [...counts.map(({ rows }) => Number(rows[0].count)), rows[0].total];
  };
  for (const [days, expected] of [
    [30, [1, 1, 1, 1]],
    [31, [0, 1, 1, 1]],
    [90, [0, 1, 1, 1]],
    [91, [0, 0, 0, 0]],
  ] as const) {
    await maintainAt(system, webhooks, () => inDays(days));
    expect(await rowCounts()).toEqual(expected);
  }
  const tomorrow = inDays(92).toISOString().slice(0, 10).replaceAll('-', '');
  expect(
    (await system.pool.query('select to_regclass($1) as partition', [`webhooks.deliveries_${tomorrow}`])).rows[0]
      .partition,
  ).not.toBeNull();
});

test.each([
  ['body', 30, DEFAULT_RETENTION],
  ['rows', 1, { metadataDays: 1, bodyDays: 1 }],
])(
  'a delivery whose %s expire before its retry leaves the queue without blocking others',
  async (_rows, days, retention) => {
    const { consume, webhooks } = await system.start({ schedule: [3_600], retention });
    const { id, merchantId } = await system.webhook(receiver.url);
    receiver.answer = respond(500);
    const old = message({ type: 'order.paid', merchantId, time: inDays(-days).toISOString() });
    await consume([old]);
    await system.eventually('select 1 from webhooks.attempts');
    await maintainAt(system, webhooks, () => inDays(1), { retention });

    receiver.answer = respond(200);
    await system.pool.query('update webhooks.queue set due_at = now()');
    await system.eventually('select 1 where not exists (select from webhooks.queue)');
    await consume([message({ type: 'order.paid', merchantId })]);
    await system.eventually("select 1 from webhooks.deliveries where webhook_id = $1 and status = 'delivered'", [id]);
    expect(receiver.received).toHaveLength(2);
  },
);

test('a delivery that outlasts its retention gets its first attempt after a stop', async () => {
  const { instance, consume, webhooks } = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId })]);
  await system.eventually("select 1 from webhooks.deliveries where status = 'delivered'");
  await instance.stop(0);
  // As if it had stopped before the attempt.
  await system.pool.query(
    `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, due_at)
     select d.day, event_id, webhook_id, d.id, order_id, octet_length(body), now()
     from webhooks.deliveries d join webhooks.events e on e.id = d.event_id`,
  );
  await maintainAt(system, webhooks, () => inDays(365));
  await system.start();
  await system.eventually('select 1 where not exists (select from webhooks.queue)');
  expect(receiver.received).toHaveLength(2);
  await maintainAt(system, webhooks, () => inDays(365));
  expect((await system.pool.query('select 1 from webhooks.deliveries where webhook_id = $1', [id])).rows).toEqual([]);
});

test('expired deliveries of a disabled webhook leave the queue', async () => {
  const retention = { metadataDays: 1, bodyDays: 1 };
  const { consume, webhooks } = await system.start({ schedule: [1], retention });
  const { merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  await consume([message({ type: 'order.paid', merchantId, time: inDays(-1).toISOString() })]);
  await system.eventually('select 1 from webhooks.attempts');
  await system.pool.query('update gateway.webhooks set is_enabled = false');
  await maintainAt(system, webhooks, () => inDays(1), { retention });
  await system.eventually('select 1 where not exists (select from webhooks.queue)');
});

test('only time in which dispatchers ran counts as time in which a webhook failed', async () => {
  const { consume, webhooks } = await system.start({ schedule: [3_600] });
  const { id, merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  await consume(Array.from({ length: 10 }, () => message({ type: 'order.paid', merchantId })));
  await system.eventually('select 1 from webhooks.failing where attempts = 10');
  const failedMs = async () =>
    Number(
      (await system.pool.query('select failed_ms from webhooks.failing where webhook_id = $1', [id])).rows[0]
        ?.failed_ms,
    );
  const isEnabled = async () =>
    (await system.pool.query('select is_enabled from gateway.webhooks where id = $1', [id])).rows[0].is_enabled;

  // Stopped for six days, then a failure again.
  await system.pool.query('update webhooks.failing set since = $1', [inDays(-6)]);
  await maintainAt(system, webhooks, () => new Date(), { ranMs: 60_000 });
  await maintainAt(system, webhooks, () => new Date(), { ranMs: 30_000.4 });
  // A process that stood still.
  await maintainAt(system, webhooks, () => new Date(), { ranMs: 6 * 86_400_000 });
  expect([await isEnabled(), await failedMs()]).toEqual([true, 210_000]);
  await system.pool.query('update webhooks.failing set failed_ms = $1', [5 * 86_400_000 - 60_000]);
  await maintainAt(system, webhooks, () => new Date());
  expect(await isEnabled()).toBe(false);
});

test('deliveries of a clock that was ahead are due in time', async () => {
  const { consume, instance, webhooks } = await system.start({ schedule: [5] });
  const { merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  await consume([1, 2, 3].map(() => message({ type: 'order.paid', merchantId })));
  await system.eventually('select 1 from webhooks.queue where attempts = 1 having count(*) = 3');
  await instance.stop(0);
  const now = new Date();
  const dueIn = async () => {
    const { rows } = await system.pool.query<{ due_at: Date }>('select due_at from webhooks.queue order by position');
    return rows.map(({ due_at }) => (due_at.getTime() - now.getTime()) / 1_000);
  };
  // Not attempted yet, waiting for the first retry, and waiting for it from before the step.
  await system.pool.query(
    `update webhooks.queue q set attempts = wanted.attempts, due_at = $1::timestamptz + wanted.seconds * interval '1 second'
     from (values (1, 0, 3600), (2, 1, 9), (3, 1, 3600)) as wanted (rank, attempts, seconds)
     where rank = (select count(*) from webhooks.queue o where o.position <= q.position)`,
    [now],
  );
  await maintainAt(system, webhooks, () => now);
  expect(await dueIn()).toEqual([3_600, 9, 3_600]);
  await maintainAt(system, webhooks, () => now, { isSetBack: true });
  expect(await dueIn()).toEqual([0, 9, 0]);
});

test('while the clock is not trusted, nothing is dropped, deleted or disabled, and no event is too old', async () => {
  const { consume, webhooks } = await system.start({ endsBy: () => new Date(0) });
  const { id, merchantId } = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId, time: inDays(-60).toISOString() })]);
  await system.eventually('select 1 from webhooks.attempts');
  await system.pool.query(
    `insert into webhooks.failing (webhook_id, since, attempts, last_at, failed_ms)
     values ($1, now() - interval '9 days', 99, now(), 9 * 86400000::bigint)`,
    [id],
  );
  await system.pool.query("insert into webhooks.forgotten_orders values ('ord_old', now() - interval '1 year')");
  await maintainAt(system, webhooks, () => new Date(0));
  const { rows } = await system.pool.query(
    `select (select count(*)::int from webhooks.events) as events, (select count(*)::int from webhooks.deliveries) as deliveries,
       (select count(*)::int from webhooks.forgotten_orders) as tombstones, is_enabled from gateway.webhooks where id = $1`,
    [id],
  );
  expect(rows).toEqual([{ events: 1, deliveries: 1, tombstones: 1, is_enabled: true }]);
});
