import { type Queryable, transaction } from '@cpg/platform/postgres';
import { newId } from '@cpg/platform';
import type { RenderedEvent } from '../delivery/render.ts';
import { sampleEvent } from './samples.ts';
import { type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import { claim } from '../queue/queue-table.ts';
import { deleteOrders } from '../queue/deletions.ts';
import { enqueue } from './enqueue.ts';

const webhookId = newId('webhook');
const merchantId = newId('merchant');
const now = new Date();
const ROWS = 1_000;

let queue: Dispatchers;
beforeAll(async () => {
  queue = await dispatchers();
  const { instance } = await queue.start();
  await instance.stop(0);
});
afterAll(() => queue.close());
afterEach(() => queue.pool.query('delete from webhooks.queue'));

/** Queues `ROWS` unleased events of an order for the webhook. */
const fillQueue = (orderId: string, { attempts, dueAt }: { attempts: number; dueAt: Date }) =>
  queue.pool.query(
    `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, attempts, due_at)
     select $1::date, $3 || n, $2, $3 || n, $3, 10, $4, $5::timestamptz from generate_series(1, ${ROWS}) as n`,
    [now, webhookId, orderId, attempts, dueAt],
  );

/** Runs `work` and counts the rows of the queue that it reads. */
const countingReads = <T>(work: (db: Queryable) => Promise<T>): Promise<{ result: T; rowsRead: number }> =>
  transaction(queue.pool, async (db) => {
    const rowsReadSoFar = async () => {
      const { rows } = await db.query<{ read: string }>(
        `select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables
         where schemaname = 'webhooks' and relname = 'queue'`,
      );
      return Number(rows[0]!.read);
    };
    const before = await rowsReadSoFar();
    const result = await work(db);
    return { result, rowsRead: (await rowsReadSoFar()) - before };
  });

const claimUpTo = (limit: number) =>
  countingReads((db) => claim(db, { requests: [{ webhookId, limit }], bytes: 1e9, holder: 'us', now }));

const eventOf = (orderId: string): RenderedEvent => ({ ...sampleEvent('order:updated', merchantId, now), orderId });

test('claiming many rows of one order reads each row a few times, not once per other row', async () => {
  await fillQueue('of-one-order', { attempts: 0, dueAt: now });
  const { result, rowsRead } = await claimUpTo(ROWS);
  expect(result).toHaveLength(ROWS);
  expect(rowsRead).toBeLessThan(10 * ROWS);
});

test('rows that wait for a retry are not read for each new event of their order', async () => {
  const orderId = 'attempted-before';
  await fillQueue(orderId, { attempts: 1, dueAt: new Date(now.getTime() + 60_000) });
  const events = Array.from({ length: 50 }, () => eventOf(orderId));
  const deliveries = events.map((event) => ({ id: newId('delivery', now), event, webhookId, lease: true }));
  const enqueued = await countingReads((db) => enqueue(db, { events, deliveries, holder: 'us', now }));
  expect(enqueued.result.rows.every(({ leased }) => leased)).toBe(true);
  expect(enqueued.rowsRead).toBeLessThan(5 * ROWS);
  await queue.pool.query('update webhooks.queue set leased_by = null');
  const claimed = await claimUpTo(ROWS);
  expect(claimed.result).toHaveLength(events.length);
  expect(claimed.rowsRead).toBeLessThan(5 * ROWS);
});

test('claims a first attempt only when all earlier ones of its ordering key are claimed with it or leased to the same instance', async () => {
  await fillQueue('in-order', { attempts: 0, dueAt: now });
  const position = async (nth: number) =>
    (
      await queue.pool.query<{ position: string }>(
        `select position from webhooks.queue order by position offset ${nth} limit 1`,
      )
    ).rows[0]!.position;
  const lease = (nth: number, holder: string | null) =>
    position(nth).then((at) =>
      queue.pool.query('update webhooks.queue set leased_by = $2 where position = $1', [at, holder]),
    );
  await lease(0, 'us');
  await lease(2, 'another');
  expect((await claimUpTo(ROWS)).result.map(({ position: at }) => at)).toEqual([await position(1)]);
  await lease(2, null);
  expect((await claimUpTo(ROWS)).result).toHaveLength(ROWS - 2);
});

describe.each([
  ['alone', 0],
  ['with others', 2],
])('an event ingested %s', (_, others) => {
  const newEvent = () => eventOf(newId('order'));
  const ingest = async (event: RenderedEvent, { lease = true, version = '' } = {}) => {
    const other = newId('merchant');
    const events = [event, ...Array.from({ length: others }, () => ({ ...newEvent(), merchantId: other }))];
    const deliveries = events.map((of) => ({ id: newId('delivery', now), event: of, webhookId, lease }));
    const versions = new Map([
      [merchantId, version],
      [other, ''],
    ]);
    const { rows, outdatedMerchantIds } = await enqueue(queue.pool, {
      events,
      deliveries,
      versions,
      holder: 'us',
      now,
    });
    const row = rows.find(({ id }) => id === deliveries[0]!.id);
    expect(rows).toHaveLength(others + (row ? 1 : 0));
    return { leased: row?.leased, outdatedMerchantIds };
  };
  const storedOf = async ({ id }: RenderedEvent) => {
    const { rows } = await queue.pool.query(
      `select e.type, e.order_id, e.body, d.webhook_id, d.status, q.bytes, q.leased_by from webhooks.events e
       join webhooks.deliveries d on d.event_id = e.id
       left join webhooks.queue q on q.delivery_id = d.id where e.id = $1`,
      [id],
    );
    return rows as unknown[];
  };
  const storedRow = ({ type, orderId, body }: RenderedEvent, leasedBy: string | null) => ({
    type,
    order_id: orderId,
    body: body.toString(),
    webhook_id: webhookId,
    status: 'pending',
    bytes: body.length,
    leased_by: leasedBy,
  });

  test('is stored once, with its delivery', async () => {
    const event = newEvent();
    expect(await ingest(event)).toEqual({ leased: true, outdatedMerchantIds: [] });
    expect(await ingest(event)).toEqual({ leased: undefined, outdatedMerchantIds: [] });
    expect(await storedOf(event)).toEqual([storedRow(event, 'us')]);
  });

  test('is not leased without room for it', async () => {
    const event = newEvent();
    expect(await ingest(event, { lease: false })).toEqual({ leased: false, outdatedMerchantIds: [] });
    expect(await storedOf(event)).toEqual([storedRow(event, null)]);
  });

  test('is not leased behind an earlier one of its order that is not leased to the same instance', async () => {
    const event = newEvent();
    await fillQueue(event.orderId, { attempts: 0, dueAt: now });
    expect(await ingest(event)).toEqual({ leased: false, outdatedMerchantIds: [] });
    await queue.pool.query("update webhooks.queue set leased_by = 'us' where order_id = $1", [event.orderId]);
    expect(await ingest({ ...event, id: newId('event') })).toEqual({ leased: true, outdatedMerchantIds: [] });
  });

  test('is not stored when its order is deleted', async () => {
    const event = newEvent();
    await deleteOrders(queue.pool, [event.orderId], now);
    expect(await ingest(event)).toEqual({ leased: undefined, outdatedMerchantIds: [] });
    expect(await storedOf(event)).toEqual([]);
  });

  test('is not stored when the webhooks of its merchant changed', async () => {
    const event = newEvent();
    expect(await ingest(event, { version: 'of before' })).toEqual({
      leased: undefined,
      outdatedMerchantIds: [merchantId],
    });
    expect(await storedOf(event)).toEqual([]);
  });
});

test('a merchant without a delivery whose webhooks changed is outdated, beside an event of another merchant', async () => {
  const event = { ...eventOf(newId('order')), merchantId: newId('merchant') };
  const deliveries = [{ id: newId('delivery', now), event, webhookId, lease: true }];
  const versions = new Map([
    [event.merchantId, ''],
    [merchantId, 'of before'],
  ]);
  const enqueued = await enqueue(queue.pool, { events: [event], deliveries, versions, holder: 'us', now });
  expect(enqueued).toMatchObject({ rows: [{ leased: true }], outdatedMerchantIds: [merchantId] });
});
