import { transaction } from '@cpg/platform/postgres';
import { type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import { createReplay } from '../replay/replay-table.ts';
import { deleteOrders, failDeliveriesOfWebhook } from './deletions.ts';

const NOW = new Date('2026-01-31T12:00:00.000Z');
const seconds = (count: number) => new Date(NOW.getTime() + count * 1_000);
const DAY = '2026-01-31';

let system: Dispatchers;
beforeAll(async () => {
  system = await dispatchers();
  for (const table of ['events', 'deliveries'])
    await system.pool.query('select webhooks.create_partition($1, $2)', [table, DAY]);
});
afterAll(() => system.close());
beforeEach(async () => {
  await system.empty();
  await system.pool.query('delete from webhooks.replays; delete from webhooks.forgotten_orders');
});

interface Given {
  readonly webhook?: string;
  readonly order?: string;
  readonly by?: string | null;
  readonly isTest?: boolean;
  readonly due?: number;
  readonly status?: string;
  readonly type?: string;
  readonly at?: number;
}

/** Stores events with their deliveries, and queues those that are pending. */
const store = async (events: Readonly<Record<string, Given>>) => {
  for (const [event, given] of Object.entries(events)) {
    const { webhook = 'w1', order = event, by = null, isTest = false, due = 0, at = 0 } = given;
    const { status = 'pending', type = 'order:paid' } = given;
    await system.pool.query(
      `insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body, is_test)
       values ($1, $2, 'mer_1', $3, $4, $5, '1', '{}', $6)`,
      [DAY, event, order, type, seconds(at), isTest],
    );
    await system.pool.query(
      `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, status, next_attempt_at, created_at)
       values ($1, $2, $3, $2, $4, $5, $6, $6)`,
      [DAY, event, webhook, type, status, NOW],
    );
    if (status === 'pending')
      await system.pool.query(
        `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, due_at, is_test, leased_by)
         values ($1, $2, $3, $2, $4, 2, $5, $6, $7)`,
        [DAY, event, webhook, order, seconds(due), isTest, by],
      );
  }
};
const idsOf = async (column: string, table: string) =>
  (await system.pool.query<Record<string, string>>(`select ${column} from webhooks.${table} order by 1`)).rows.map(
    (row) => row[column],
  );
const failed = () => idsOf('id', "deliveries where status = 'failed'");
const queued = () => idsOf('event_id', 'queue');
const fail = (more: { webhookId?: string; withTests?: boolean; limit?: number } = {}) =>
  failDeliveriesOfWebhook(system.pool, { webhookId: 'w1', withTests: true, limit: 10, now: NOW, ...more });

test.each<[string, Readonly<Record<string, Given>>, Parameters<typeof fail>[0], string[]]>([
  ['unleased work', { a: {}, b: { by: 'other' } }, {}, ['a']],
  ['work of that webhook', { a: {}, b: { webhook: 'w2' } }, {}, ['a']],
  ['test deliveries of a deleted webhook', { a: { isTest: true }, b: {} }, {}, ['a', 'b']],
  ['no test deliveries of a disabled one', { a: { isTest: true }, b: {} }, { withTests: false }, ['b']],
  ['what is longest due, up to the limit', { a: {}, b: { due: -2 }, c: { due: -1 } }, { limit: 2 }, ['b', 'c']],
])('fails %s', async (_, events, options, expected) => {
  await store(events);
  expect(await fail(options)).toBe(expected.length);
  expect(await failed()).toEqual(expected);
  expect(await queued()).toEqual(Object.keys(events).filter((event) => !expected.includes(event)));
  const { rows } = await system.pool.query("select * from webhooks.deliveries where status = 'failed'");
  for (const row of rows) expect(row).toMatchObject({ next_attempt_at: null, updated_at: NOW });
});

test('fails nothing of a webhook that is enabled by now', async () => {
  const { id } = await system.webhook('https://shop.example');
  await store({ a: { webhook: id } });
  expect(await fail({ webhookId: id })).toBe(0);
  await system.pool.query('update gateway.webhooks set is_enabled = false');
  expect(await fail({ webhookId: id })).toBe(1);
});

describe('an unfinished replay of the webhook', () => {
  const replayed = async (set: string) => {
    const request = {
      id: 'r1',
      webhookId: 'w1',
      merchantId: 'mer_1',
      from: seconds(-5),
      to: NOW,
      types: ['order:paid'],
    };
    await createReplay(system.pool, request, NOW);
    await system.pool.query(`update webhooks.replays set leased_by = 'me', order_place = 'a place', ${set}`);
    await fail();
    const { rows } = await system.pool.query('select deferred, leased_by, order_place from webhooks.replays');
    return rows[0];
  };
  const untouched = { leased_by: 'me', order_place: 'a place' };

  test.each<[string, Given, string, object]>([
    [
      'queues a failed event in its range again',
      {},
      'events = 0',
      { deferred: ['a'], leased_by: null, order_place: 'a place' },
    ],
    [
      'starts an order again that is partly queued',
      {},
      "order_id = 'a'",
      { deferred: [], leased_by: null, order_place: null },
    ],
    ['defers an order once', {}, "deferred = '{a}'", { deferred: ['a'], leased_by: null, order_place: 'a place' }],
    ['includes its start', { at: -5 }, 'events = 0', { deferred: ['a'], leased_by: null, order_place: 'a place' }],
    ['leaves out earlier events', { at: -5.001 }, 'events = 0', { deferred: [], ...untouched }],
    ['leaves out later events', { at: 0.001 }, 'events = 0', { deferred: [], ...untouched }],
    [
      'leaves out events that it does not replay',
      { type: 'order:created' },
      'events = 0',
      { deferred: [], ...untouched },
    ],
    ['leaves out test deliveries', { isTest: true }, 'events = 0', { deferred: [], ...untouched }],
    ['is over when it has ended', {}, 'finished_at = now()', { deferred: [], ...untouched }],
  ])('%s', async (_, given, set, expected) => {
    await store({ a: given });
    expect(await replayed(set)).toEqual(expected);
    expect(await failed()).toEqual(['a']);
  });
});

test('a deleted order leaves no body, no work and no pending delivery', async () => {
  await store({ a: { order: 'o' }, b: { order: 'o', status: 'delivered' }, c: { order: 'o', by: 'me' }, d: {} });
  const remove = () => transaction(system.pool, (db) => deleteOrders(db, ['o', 'unknown'], NOW));
  await remove();
  await remove();
  expect([await idsOf('id', 'events'), await queued(), await idsOf('id', 'deliveries')]).toEqual([
    ['d'],
    ['d'],
    ['b', 'd'],
  ]);
  expect((await system.pool.query('select * from webhooks.forgotten_orders order by 1')).rows).toEqual([
    { order_id: 'o', forgotten_at: NOW },
    { order_id: 'unknown', forgotten_at: NOW },
  ]);
});
