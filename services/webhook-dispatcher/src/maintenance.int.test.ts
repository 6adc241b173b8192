import { maintainOnce, type MaintenanceOptions } from './maintenance.ts';
import { createPartitions, DEFAULT_RETENTION } from './storage/partitions.ts';
import { type Dispatchers, dispatchers, message } from './testing/jest-dispatchers.ts';
import { log } from './testing/jest-log.ts';
import { type Receiver, respond, startReceiver } from './testing/jest-receiver.ts';

const DAY_MS = 86_400_000;

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
const maintainAt = (webhooks: MaintenanceOptions['webhooks'], now: () => Date, retention = DEFAULT_RETENTION) =>
  maintainOnce({
    pool: system.pool,
    partitions: createPartitions(system.pool, { now, retention }),
    webhooks,
    retention,
    disableAfterMs: 5 * DAY_MS,
    now,
    log,
  });

test('drops bodies after 30 days, deliveries and attempts after 90, and creates future partitions', async () => {
  const { consume, webhooks } = await system.start();
  const { merchantId } = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId })]);
  await system.eventually('select 1 from webhooks.attempts');
  const rowCounts = async () => {
    const counts = await Promise.all(
      ['events', 'deliveries', 'attempts'].map((table) => system.pool.query(`select count(*) from webhooks.${table}`)),
    );
    return counts.map(({ rows }) => Number(rows[0].count));
  };
  for (const [days, expected] of [
    [30, [1, 1, 1]],
    [31, [0, 1, 1]],
    [90, [0, 1, 1]],
    [91, [0, 0, 0]],
  ] as const) {
    await maintainAt(webhooks, () => inDays(days));
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
    const { consume, webhooks } = await system.start({ schedule: [1], retention });
    const { id, merchantId } = await system.webhook(receiver.url);
    receiver.answer = respond(500);
    const old = message({ type: 'order.paid', merchantId, time: inDays(-days).toISOString() });
    await consume([old]);
    await system.eventually('select 1 from webhooks.attempts');
    await maintainAt(webhooks, () => inDays(1), retention);

    receiver.answer = respond(200);
    await system.eventually('select 1 where not exists (select from webhooks.queue)');
    await consume([message({ type: 'order.paid', merchantId })]);
    await system.eventually("select 1 from webhooks.deliveries where webhook_id = $1 and status = 'delivered'", [id]);
    expect(receiver.received).toHaveLength(2);
  },
);

test('expired deliveries of a disabled webhook leave the queue', async () => {
  const retention = { metadataDays: 1, bodyDays: 1 };
  const { consume, webhooks } = await system.start({ schedule: [1], retention });
  const { merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  await consume([message({ type: 'order.paid', merchantId, time: inDays(-1).toISOString() })]);
  await system.eventually('select 1 from webhooks.attempts');
  await system.pool.query('update gateway.webhooks set is_enabled = false');
  await maintainAt(webhooks, () => inDays(1), retention);
  await system.eventually('select 1 where not exists (select from webhooks.queue)');
});

describe('a webhook whose attempts all fail', () => {
  const state = async () =>
    (await system.pool.query('select is_enabled, disabled_reason from gateway.webhooks')).rows[0] as {
      is_enabled: boolean;
      disabled_reason: string | null;
    };
  const failing = async (attempts: number) => {
    const { consume, webhooks } = await system.start({ schedule: [3_600] });
    const { merchantId } = await system.webhook(receiver.url);
    receiver.answer = respond(500);
    await consume(Array.from({ length: attempts }, () => message({ type: 'order.paid', merchantId })));
    await system.eventually('select 1 from webhooks.failing where attempts = $1', [attempts]);
    return { consume, webhooks, merchantId };
  };
  /** Moves the first failure into the past. The last one stays. */
  const startedDaysAgo = (days: number) => system.pool.query('update webhooks.failing set since = $1', [inDays(-days)]);
  const today = () => new Date();

  test('is disabled after five days and ten attempts with a reason', async () => {
    const { webhooks } = await failing(10);
    await startedDaysAgo(4.9);
    await maintainAt(webhooks, today);
    expect(await state()).toMatchObject({ is_enabled: true });
    await startedDaysAgo(5.1);
    await maintainAt(webhooks, today);
    const { is_enabled, disabled_reason } = await state();
    expect(is_enabled).toBe(false);
    expect(disabled_reason).toMatch(/^all 10 delivery attempts have failed since \d{4}-/);
  });

  test('stays enabled before its tenth attempt', async () => {
    const { webhooks } = await failing(9);
    await startedDaysAgo(6);
    await maintainAt(webhooks, today);
    expect(await state()).toMatchObject({ is_enabled: true });
  });

  test('stays enabled when its last attempt is more than a day ago', async () => {
    const { webhooks } = await failing(10);
    await startedDaysAgo(6);
    await maintainAt(webhooks, () => inDays(1.1));
    expect(await state()).toMatchObject({ is_enabled: true });
    await maintainAt(webhooks, () => inDays(0.9));
    expect(await state()).toMatchObject({ is_enabled: false });
  });

  test('counts failures of several results, and starts anew after a success', async () => {
    const { consume, merchantId } = await failing(3);
    receiver.answer = respond(200);
    await consume([message({ type: 'order.paid', merchantId })]);
    await system.eventually('select 1 from webhooks.failing where attempts = 0');
    receiver.answer = respond(500);
    const before = Date.now();
    for (let i = 1; i <= 2; i++) {
      await consume([message({ type: 'order.paid', merchantId })]);
      await system.eventually('select 1 from webhooks.failing where attempts = $1', [i]);
    }
    const { since, last_at } = await system.eventually<{ since: Date; last_at: Date }>(
      'select * from webhooks.failing',
    );
    expect(since.getTime()).toBeGreaterThanOrEqual(before);
    expect(last_at.getTime()).toBeGreaterThan(since.getTime());
  });

  test('is disabled even if dropping partitions fails because of a lock', async () => {
    const { webhooks } = await failing(10);
    await system.pool.query(`update webhooks.failing set last_at = $1`, [inDays(30.5)]);
    const reader = await system.pool.connect();
    try {
      await reader.query('begin; lock table webhooks.events in access share mode');
      await maintainAt(webhooks, () => inDays(31));
      expect(await state()).toMatchObject({ is_enabled: false });
      expect(await system.pool.query('select from webhooks.events')).toMatchObject({ rowCount: 10 });
    } finally {
      await reader.query('rollback');
      reader.release();
    }
  });

  test('stays enabled when an attempt succeeds in between', async () => {
    const { consume, webhooks, merchantId } = await failing(10);
    await startedDaysAgo(6);
    receiver.answer = respond(200);
    await consume([message({ type: 'order.paid', merchantId })]);
    await system.eventually(`select 1 from webhooks.deliveries where status = 'delivered'`);
    await maintainAt(webhooks, today);
    expect(await state()).toMatchObject({ is_enabled: true, disabled_reason: null });
  });

  test('gets five new days when the merchant changes it', async () => {
    const { webhooks } = await failing(10);
    await startedDaysAgo(6);
    await system.pool.query('update gateway.webhooks set updated_at = $1', [inDays(-4)]);
    await maintainAt(webhooks, today);
    expect(await state()).toMatchObject({ is_enabled: true });
  });
});
