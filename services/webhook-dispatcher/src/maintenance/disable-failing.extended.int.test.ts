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
/** Moves the first failure into the past, and lets dispatchers have run since. The last failure stays. */
const startedDaysAgo = (days: number) =>
  system.pool.query('update webhooks.failing set since = $1, failed_ms = $2', [
    inDays(-days),
    Math.round(days * 86_400_000),
  ]);
const today = () => new Date();

test('a failing webhook is disabled after five days and ten attempts with a reason', async () => {
  const { webhooks } = await failing(10);
  await startedDaysAgo(4.9);
  await maintainAt(system, webhooks, today);
  expect(await state()).toMatchObject({ is_enabled: true });
  await startedDaysAgo(5.1);
  await maintainAt(system, webhooks, today);
  const { is_enabled, disabled_reason } = await state();
  expect(is_enabled).toBe(false);
  expect(disabled_reason).toMatch(/^all 10 delivery attempts have failed since \d{4}-/);
});

test('a failing webhook stays enabled before its tenth attempt', async () => {
  const { webhooks } = await failing(9);
  await startedDaysAgo(6);
  await maintainAt(system, webhooks, today);
  expect(await state()).toMatchObject({ is_enabled: true });
});

test('a failing webhook stays enabled when its last attempt is more than a day ago', async () => {
  const { webhooks } = await failing(10);
  await startedDaysAgo(6);
  await maintainAt(system, webhooks, () => inDays(1.1));
  expect(await state()).toMatchObject({ is_enabled: true });
  await maintainAt(system, webhooks, () => inDays(0.9));
  expect(await state()).toMatchObject({ is_enabled: false });
});

test('failures of several results are counted, and counted anew after a success', async () => {
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
  const { since, last_at } = await system.eventually<{ since: Date; last_at: Date }>('select * from webhooks.failing');
  expect(since.getTime()).toBeGreaterThanOrEqual(before);
  expect(last_at.getTime()).toBeGreaterThan(since.getTime());
});

test('a failing webhook is disabled even if dropping partitions fails because of a lock', async () => {
  const { webhooks } = await failing(10);
  await startedDaysAgo(6);
  await system.pool.query(`update webhooks.failing set last_at = $1`, [inDays(30.5)]);
  const reader = await system.pool.connect();
  try {
    await reader.query('begin; lock table webhooks.events in access share mode');
    await maintainAt(system, webhooks, () => inDays(31));
    expect(await state()).toMatchObject({ is_enabled: false });
    expect(await system.pool.query('select from webhooks.events')).toMatchObject({ rowCount: 10 });
  } finally {
    await reader.query('rollback');
    reader.release();
  }
});

test('a failing webhook stays enabled when an attempt succeeds in between', async () => {
  const { consume, webhooks, merchantId } = await failing(10);
  await startedDaysAgo(6);
  receiver.answer = respond(200);
  await consume([message({ type: 'order.paid', merchantId })]);
  await system.eventually(`select 1 from webhooks.deliveries where status = 'delivered'`);
  await maintainAt(system, webhooks, today);
  expect(await state()).toMatchObject({ is_enabled: true, disabled_reason: null });
});

test('a failing webhook gets five new days when the merchant changes it, whatever the time of the change', async () => {
  const { webhooks } = await failing(10);
  await startedDaysAgo(6);
  await system.pool.query('update gateway.webhooks set updated_at = $1', [inDays(-7)]);
  await maintainAt(system, webhooks, today);
  expect(await state()).toMatchObject({ is_enabled: true });
});
