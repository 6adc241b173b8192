import { type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import {
  claim,
  countDue,
  loadEvents,
  pullForward,
  releaseLeases,
  releaseLeasesExcept,
  webhooksWithUnleasedWork,
} from './queue-table.ts';

let system: Dispatchers;
beforeAll(async () => {
  system = await dispatchers();
});
afterAll(() => system.close());
beforeEach(() => system.empty());

const NOW = new Date('2026-01-31T12:00:00.000Z');
const seconds = (count: number) => new Date(NOW.getTime() + count * 1_000);
const DAY = '2026-01-31';

interface Row {
  readonly webhook?: string;
  readonly order?: string;
  readonly attempts?: number;
  readonly bytes?: number;
  readonly due?: number;
  readonly by?: string | null;
}

/** Queues rows, named by their events, and returns a function that tells which of them have a lease. */
const queue = async (rows: Readonly<Record<string, Row>>) => {
  for (const [event, { webhook = 'w1', order = event, attempts = 0, bytes = 1, due = 0, by = null }] of Object.entries(
    rows,
  ))
    await system.pool.query(
      `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, attempts, due_at, leased_by)
       values ($1, $2, $3, $2, $4, $5, $6, $7, $8)`,
      [DAY, event, webhook, order, bytes, attempts, seconds(due), by],
    );
  return async () =>
    Object.fromEntries(
      (
        await system.pool.query<{ event_id: string; leased_by: string }>(
          'select event_id, leased_by from webhooks.queue where leased_by is not null order by position',
        )
      ).rows.map((row) => [row.event_id, row.leased_by]),
    );
};
const positionsOf = async (...events: string[]) =>
  (
    await system.pool.query<{ position: string }>('select position from webhooks.queue where event_id = any($1)', [
      events,
    ])
  ).rows.map(({ position }) => position);

const claimed = async ({ limit = 10, bytes = 1_000, webhooks = ['w1'] } = {}) =>
  (
    await claim(system.pool, {
      requests: webhooks.map((webhookId) => ({ webhookId, limit })),
      ...{ bytes, holder: 'me', now: NOW },
    })
  ).map((row) => row.event_id);

test.each<[string, Readonly<Record<string, Row>>, Parameters<typeof claimed>[0], string[]]>([
  ['what is due now, and nothing later', { a: {}, b: { due: 0.001 } }, {}, ['a']],
  ['what no instance has', { a: { by: 'other' }, b: { by: 'me' }, c: {} }, {}, ['c']],
  [
    'the webhooks it names',
    { a: {}, b: { webhook: 'w2' }, c: { webhook: 'w3' } },
    { webhooks: ['w1', 'w3'] },
    ['a', 'c'],
  ],
  ['the longest due', { a: { due: -1 }, b: { due: -3 }, c: { due: -2 } }, { limit: 2 }, ['b', 'c']],
  [
    'as many as it may of each webhook',
    { a: {}, b: {}, c: { webhook: 'w2' } },
    { limit: 1, webhooks: ['w1', 'w2'] },
    ['a', 'c'],
  ],
  [
    'bytes until the bound, and the one that passes it',
    { a: { bytes: 3 }, b: { bytes: 3 }, c: {} },
    { bytes: 4 },
    ['a', 'b'],
  ],
  ['nothing without free bytes', { a: {} }, { bytes: 0 }, []],
  ['no event behind one that another instance has', { a: { by: 'other', order: 'o' }, b: { order: 'o' } }, {}, []],
  ['an event behind one that it has', { a: { by: 'me', order: 'o' }, b: { order: 'o' } }, {}, ['b']],
  ['no event behind one that is not due', { a: { due: 1, order: 'o' }, b: { order: 'o' } }, {}, []],
  ['the events of an order together', { a: { order: 'o' }, b: { order: 'o' } }, {}, ['a', 'b']],
  ['events up to the one that blocks', { a: { order: 'o' }, b: { order: 'o', due: 1 }, c: { order: 'o' } }, {}, ['a']],
  [
    'an event behind one of another webhook',
    { a: { by: 'other', order: 'o', webhook: 'w2' }, b: { order: 'o' } },
    {},
    ['b'],
  ],
  ['an event behind one of another order', { a: { by: 'other', order: 'o' }, b: { order: 'p' } }, {}, ['b']],
  ['a retry behind a first attempt', { a: { by: 'other', order: 'o' }, b: { order: 'o', attempts: 1 } }, {}, ['b']],
  ['a first attempt behind a retry', { a: { by: 'other', order: 'o', attempts: 1 }, b: { order: 'o' } }, {}, ['b']],
])('a claim leases %s', async (_, rows, options, events) => {
  const leases = await queue(rows);
  const before = await leases();
  expect(await claimed(options)).toEqual(events);
  expect(await leases()).toEqual({ ...before, ...Object.fromEntries(events.map((event) => [event, 'me'])) });
});

test('a claimed row has all that its delivery needs', async () => {
  await queue({ a: { order: 'o', attempts: 2 } });
  await system.pool.query('update webhooks.queue set attempts_before = 3, is_test = true');
  const requests = [{ webhookId: 'w1', limit: 1 }];
  expect(await claim(system.pool, { requests, bytes: 1, holder: 'me', now: NOW })).toEqual([
    {
      ...{ position: expect.any(String), day: DAY, event_id: 'a', webhook_id: 'w1', delivery_id: 'a', order_id: 'o' },
      ...{ attempts: 2, attempts_before: 3, is_test: true },
    },
  ]);
});

test('finds the webhooks with unleased work page by page, each with its earliest time', async () => {
  await queue({
    ...{ a: { webhook: 'w1', due: 5 }, b: { webhook: 'w1', due: 3 }, c: { webhook: 'w1', due: 1, by: 'me' } },
    ...{
      d: { webhook: 'w2', by: 'me' },
      e: { webhook: 'w3', due: 7 },
      f: { webhook: 'w4' },
      g: { webhook: 'w4', by: 'me' },
    },
  });
  const found = (after: string, limit: number) => webhooksWithUnleasedWork(system.pool, { after, limit });
  const [first, third, fourth] = [
    { webhookId: 'w1', dueAt: seconds(3) },
    { webhookId: 'w3', dueAt: seconds(7) },
    { webhookId: 'w4', dueAt: seconds(0) },
  ];
  expect(await found('', 10)).toEqual([first, third, fourth]);
  expect(await found('', 2)).toEqual([first, third]);
  expect(await found('w1', 10)).toEqual([third, fourth]);
  expect(await found('w4', 10)).toEqual([]);
});

test('loads the events of rows, each from its day', async () => {
  for (const day of [DAY, '2026-02-01']) {
    await system.pool.query("select webhooks.create_partition('events', $1)", [day]);
    await system.pool.query(
      `insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, hash, body)
       select $1::date, 'e' || n, 'mer_1', 'ord_1', 'order:paid', $2, n::text, nullif('h' || n, 'h2'), $1::date::text || ' é' from generate_series(1, 2) as n`,
      [day, NOW],
    );
  }
  const row = (day: string, event_id: string) => ({ day, event_id }) as Parameters<typeof loadEvents>[1][number];
  const events = await loadEvents(system.pool, [row(DAY, 'e1'), row('2026-02-01', 'e2'), row(DAY, 'unknown')]);
  expect([...events.values()]).toEqual([
    { id: 'e1', sequence: '1', hash: 'h1', occurredMs: NOW.getTime(), body: Buffer.from(`${DAY} é`) },
    { id: 'e2', sequence: '2', hash: null, occurredMs: NOW.getTime(), body: Buffer.from('2026-02-01 é') },
  ]);
});

test('a delivery that waits longer than its schedule allows is due now', async () => {
  await queue({
    ...{ first: { due: 1 }, due: { due: -1 }, retry: { attempts: 1, due: 11 }, inTime: { attempts: 1, due: 10 } },
    ...{ second: { attempts: 2, due: 21 }, past: { attempts: 3, due: 1 }, leased: { due: 1, by: 'me' } },
  });
  expect(await pullForward(system.pool, { waits: [10, 20], now: NOW })).toBe(4);
  const { rows } = await system.pool.query('select event_id from webhooks.queue where due_at = $1 order by 1', [NOW]);
  expect(rows.map(({ event_id }) => event_id)).toEqual(['first', 'past', 'retry', 'second']);
});

test('an instance releases its own leases alone', async () => {
  const leases = await queue({ a: { by: 'me' }, b: { by: 'me' }, c: { by: 'other' }, d: {} });
  await releaseLeases(system.pool, 'me', await positionsOf('a', 'c'));
  expect(await leases()).toEqual({ b: 'me', c: 'other' });
});

test('an instance releases its leases but those that it knows', async () => {
  const leases = await queue({ a: { by: 'me' }, b: { by: 'me' }, c: { by: 'other' }, d: {} });
  await releaseLeasesExcept(system.pool, 'me', await positionsOf('a'));
  expect(await leases()).toEqual({ a: 'me', c: 'other' });
});

test('counts what is due and unleased, with the time of the oldest', async () => {
  expect(await countDue(system.pool, NOW)).toEqual({ due: 0, oldestDueAt: null });
  await queue({ a: { due: -2 }, b: { due: 0 }, c: { due: 0.001 }, d: { due: -5, by: 'me' } });
  expect(await countDue(system.pool, NOW)).toEqual({ due: 2, oldestDueAt: seconds(-2) });
});
