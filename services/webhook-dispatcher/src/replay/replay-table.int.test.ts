import { type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import {
  addQueuedEvents,
  advanceReplay,
  cancelReplay,
  type ClaimedReplay,
  claimReplay,
  countUnleased,
  createReplay,
  MAX_RETRY_MS,
  postponeReplay,
} from './replay-table.ts';

let system: Dispatchers;
beforeAll(async () => {
  system = await dispatchers();
});
afterAll(() => system.close());
beforeEach(async () => {
  await system.empty();
  await system.pool.query('delete from webhooks.replays');
});

const NOW = new Date('2026-01-31T12:00:00.000Z');
const at = (ms: number) => new Date(NOW.getTime() + ms);

const create = (id: string, webhookId: string, now = NOW) =>
  createReplay(
    system.pool,
    { id, webhookId, merchantId: 'mer_1', from: at(-9), to: at(-1), types: ['order:paid'] },
    now,
  );
const change = (id: string, set: string, values: unknown[] = []) =>
  system.pool.query(`update webhooks.replays set ${set} where id = $1`, [id, ...values]);
const claim = (holder = 'me') => claimReplay(system.pool, holder, NOW);
const rowOf = async (id: string) =>
  (await system.pool.query('select * from webhooks.replays where id = $1', [id])).rows[0];
/** An instance whose lease ends after `ms`, by the clock of PostgreSQL. */
const instance = (id: string, ms: number) =>
  system.pool.query("insert into webhooks.instances (id, expires_at) values ($1, now() + $2 * interval '1 ms')", [
    id,
    ms,
  ]);
const enabledWebhook = async () => (await system.webhook('https://shop.example')).id;

/** An unfinished replay of an enabled webhook, leased to this instance. */
const claimedReplay = async (): Promise<ClaimedReplay> => {
  await create('r1', await enabledWebhook());
  return (await claim())!;
};

test('a replay is created once, and one at a time of a webhook', async () => {
  const [one, other] = ['w1', 'w2'];
  expect(await create('r1', one)).toMatchObject({
    ...{
      id: 'r1',
      webhook_id: 'w1',
      merchant_id: 'mer_1',
      from_at: at(-9),
      to_at: at(-1),
      event_types: ['order:paid'],
    },
    ...{ created_at: NOW, stepped_at: NOW },
  });
  expect(await create('r1', one, at(5))).toMatchObject({ created_at: NOW });
  expect(await create('r2', one)).toBeNull();
  expect(await create('r3', other)).toMatchObject({ id: 'r3' });
  await change('r1', 'finished_at = now()');
  expect(await create('r2', one)).toMatchObject({ id: 'r2' });
});

describe('a step takes a replay', () => {
  test.each<[string, string, unknown[], boolean]>([
    ['unfinished', 'events = 0', [], true],
    ['finished', 'finished_at = now()', [], false],
    ['postponed until now', 'retry_at = $2', [NOW], true],
    ['postponed for a moment', 'retry_at = $2', [at(1)], false],
    ['postponed for as long as one can be', 'retry_at = $2', [at(MAX_RETRY_MS)], false],
    ['postponed for longer than one can be', 'retry_at = $2', [at(MAX_RETRY_MS + 1)], true],
    ['leased to this instance', "leased_by = 'me'", [], true],
    ['leased to a live instance', "leased_by = 'alive'", [], false],
    ['leased to an expired instance', "leased_by = 'expired'", [], true],
    ['leased to an instance from before the clock was set back', "leased_by = 'ahead'", [], true],
    ['leased to an unknown instance', "leased_by = 'unknown'", [], true],
  ])('that is %s, or not', async (_, set, values, isTaken) => {
    await instance('alive', 50_000);
    await instance('expired', -1);
    await instance('ahead', 70_000);
    await instance('me', 50_000);
    await create('r1', await enabledWebhook(), at(-1));
    await change('r1', set, values);
    const before = await rowOf('r1');
    const taken = await claim();
    expect(taken?.id ?? null).toBe(isTaken ? 'r1' : null);
    expect(await rowOf('r1')).toEqual(isTaken ? { ...before, leased_by: 'me', stepped_at: NOW } : before);
  });

  test('of an enabled or deleted webhook, not of a disabled one', async () => {
    const webhook = await enabledWebhook();
    await create('r1', webhook);
    expect(await claim()).toMatchObject({ is_webhook_deleted: false });
    await system.pool.query('update gateway.webhooks set is_enabled = false');
    expect(await claim()).toBeNull();
    await system.pool.query('update gateway.webhooks set deleted_at = now()');
    expect(await claim()).toMatchObject({ is_webhook_deleted: true });
  });

  test('whose last step is longest ago, before that one whose last step is in the future', async () => {
    for (const [index, ms] of [-2, -3, -1, 5].entries()) await create(`r${index}`, await enabledWebhook(), at(ms));
    const order = [];
    for (let n = 0; n < 4; n += 1) {
      const taken = await claim();
      order.push(taken!.id);
      await change(taken!.id, 'finished_at = now()');
    }
    expect(order).toEqual(['r3', 'r1', 'r0', 'r2']);
  });
});

describe('a step', () => {
  const progress = { cursor: { afterOrder: 'a place', within: { id: 'ord_1', afterEvent: '7' } }, deferred: ['ord_2'] };

  test('saves its progress and ends its lease', async () => {
    const replay = await claimedReplay();
    await change('r1', 'failures = 3');
    const before = await rowOf('r1');
    expect(await advanceReplay(system.pool, replay, progress, NOW)).toBe(true);
    expect(await rowOf('r1')).toEqual({
      ...before,
      ...{ leased_by: null, failures: 0, reached_order: 'a place', order_id: 'ord_1', order_place: '7' },
      ...{ deferred: ['ord_2'], finished_at: NOW },
    });
  });

  test.each([
    ['another instance has the replay', "update webhooks.replays set leased_by = 'other'"],
    ['its webhook is disabled', 'update gateway.webhooks set is_enabled = false'],
    ['its webhook is deleted', 'update gateway.webhooks set deleted_at = now()'],
  ])('saves nothing when %s', async (_, statement) => {
    const replay = await claimedReplay();
    await system.pool.query(statement);
    const before = await rowOf('r1');
    expect(await advanceReplay(system.pool, replay, progress, null)).toBe(false);
    expect(await rowOf('r1')).toEqual(before);
  });

  test('without progress postpones the next one, while it has the lease', async () => {
    const replay = await claimedReplay();
    await create('r2', 'w2');
    const [before, other] = [await rowOf('r1'), await rowOf('r2')];
    await postponeReplay(system.pool, { ...replay, leased_by: 'other' }, { until: at(5), failures: 2 });
    expect(await rowOf('r1')).toEqual(before);
    await postponeReplay(system.pool, replay, { until: at(5), failures: 2 });
    expect(await rowOf('r1')).toEqual({ ...before, leased_by: null, retry_at: at(5), failures: 2 });
    expect(await rowOf('r2')).toEqual(other);
  });

  test('adds the events that it queued', async () => {
    const replay = await claimedReplay();
    await create('r2', 'w2');
    for (const events of [3, 4]) await addQueuedEvents(system.pool, replay, events);
    expect([(await rowOf('r1')).events, (await rowOf('r2')).events]).toEqual([7, 0]);
  });
});

test('a replay is canceled for its webhook, unless it has ended', async () => {
  const { webhook_id: webhookId } = await claimedReplay();
  await create('r2', 'w2');
  const cancel = (id: string, of: string, now = NOW) => cancelReplay(system.pool, { id, webhookId: of, now });
  const [before, other] = [await rowOf('r1'), await rowOf('r2')];
  expect([await cancel('r1', 'w2'), await cancel('unknown', webhookId)]).toEqual([false, false]);
  expect(await rowOf('r1')).toEqual(before);
  const canceled = { ...before, leased_by: null, finished_at: NOW, canceled_at: NOW };
  for (const ms of [0, 5]) {
    expect(await cancel('r1', webhookId, at(ms))).toBe(true);
    expect(await rowOf('r1')).toEqual(canceled);
  }
  expect(await rowOf('r2')).toEqual(other);
});

test('counts the unleased deliveries of a webhook up to a bound', async () => {
  for (const [webhook, by] of [['w1'], ['w1'], ['w1', 'me'], ['w2']])
    await system.pool.query(
      `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, due_at, leased_by)
       values (now(), 'e', $1, 'd', 'o', 1, now(), $2)`,
      [webhook, by],
    );
  expect([await countUnleased(system.pool, 'w1', 5), await countUnleased(system.pool, 'w1', 1)]).toEqual([2, 1]);
});
