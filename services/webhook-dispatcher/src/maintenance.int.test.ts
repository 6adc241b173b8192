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
const chores = (webhooks: MaintenanceOptions['webhooks'], now: () => Date, retention = DEFAULT_RETENTION) =>
  maintainOnce({
    pool: system.pool,
    partitions: createPartitions(system.pool, { now, retention }),
    webhooks,
    retention,
    disableAfterMs: 5 * DAY_MS,
    now,
    log,
  });

test('bodies go after 30 days, deliveries and attempts after 90, days ahead are made', async () => {
  const { consume, webhooks } = await system.start();
  const { merchantId } = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId })]);
  await system.eventually('select 1 from webhooks.attempts');
  const kept = async () => {
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
    await chores(webhooks, () => inDays(days));
    expect(await kept()).toEqual(expected);
  }
  const tomorrow = inDays(92).toISOString().slice(0, 10).replaceAll('-', '');
  expect(
    (await system.pool.query('select to_regclass($1) as there', [`webhooks.deliveries_${tomorrow}`])).rows[0].there,
  ).not.toBeNull();
});

test.each([
  ['its body', 30, DEFAULT_RETENTION],
  ['all of it', 1, { metadataDays: 1, bodyDays: 1 }],
])('what waits for a retry while %s goes ends, and holds up no other', async (_what, days, retention) => {
  const { consume, webhooks } = await system.start({ schedule: [1], retention });
  const { id, merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  const old = message({ type: 'order.paid', merchantId, time: inDays(-days).toISOString() });
  await consume([old]);
  await system.eventually('select 1 from webhooks.attempts');
  await chores(webhooks, () => inDays(1), retention);

  receiver.answer = respond(200);
  await system.eventually('select 1 where not exists (select from webhooks.queue)');
  await consume([message({ type: 'order.paid', merchantId })]);
  await system.eventually("select 1 from webhooks.deliveries where webhook_id = $1 and status = 'delivered'", [id]);
  expect(receiver.received).toHaveLength(2);
});

test('what waits for a webhook that is off ends, though its rows are gone', async () => {
  const retention = { metadataDays: 1, bodyDays: 1 };
  const { consume, webhooks } = await system.start({ schedule: [1], retention });
  const { merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  await consume([message({ type: 'order.paid', merchantId, time: inDays(-1).toISOString() })]);
  await system.eventually('select 1 from webhooks.attempts');
  await system.pool.query('update gateway.webhooks set is_enabled = false');
  await chores(webhooks, () => inDays(1), retention);
  await system.eventually('select 1 where not exists (select from webhooks.queue)');
});

describe('a webhook of which every attempt fails', () => {
  const state = async () =>
    (await system.pool.query('select is_enabled, disabled_reason from gateway.webhooks')).rows[0] as {
      is_enabled: boolean;
      disabled_reason: string | null;
    };
  const failOnce = async () => {
    const { consume, webhooks } = await system.start({ schedule: [3_600] });
    const { merchantId } = await system.webhook(receiver.url);
    receiver.answer = respond(500);
    await consume([message({ type: 'order.paid', merchantId })]);
    await system.eventually('select 1 from webhooks.failing');
    return { consume, webhooks, merchantId };
  };

  test('is disabled after five days, with the reason', async () => {
    const { webhooks } = await failOnce();
    await chores(webhooks, () => inDays(4.9));
    expect(await state()).toMatchObject({ is_enabled: true });
    await chores(webhooks, () => inDays(5.1));
    const { is_enabled, disabled_reason } = await state();
    expect(is_enabled).toBe(false);
    expect(disabled_reason).toMatch(/^every delivery attempt has failed since \d{4}-/);
  });

  test('is disabled, too, while what is old cannot be dropped: somebody reads it', async () => {
    const { webhooks } = await failOnce();
    const reader = await system.pool.connect();
    try {
      await reader.query('begin; lock table webhooks.events in access share mode');
      await chores(webhooks, () => inDays(31));
      expect(await state()).toMatchObject({ is_enabled: false });
      expect(await system.pool.query('select from webhooks.events')).toMatchObject({ rowCount: 1 });
    } finally {
      await reader.query('rollback');
      reader.release();
    }
  });

  test('is not when one succeeds in between', async () => {
    const { consume, webhooks, merchantId } = await failOnce();
    receiver.answer = respond(200);
    await consume([message({ type: 'order.paid', merchantId })]);
    await system.eventually(`select 1 from webhooks.deliveries where status = 'delivered'`);
    await chores(webhooks, () => inDays(6));
    expect(await state()).toMatchObject({ is_enabled: true, disabled_reason: null });
  });

  test('has its five days anew once its owner changed it', async () => {
    const { webhooks } = await failOnce();
    await system.pool.query('update gateway.webhooks set updated_at = $1', [inDays(4)]);
    await chores(webhooks, () => inDays(6));
    expect(await state()).toMatchObject({ is_enabled: true });
  });
});
