import { type Queryable, transaction } from '@cpg/postgres';
import { newId } from '@cpg/runtime';
import type { RenderedEvent } from '../delivery/render.ts';
import { sampleEvent } from '../samples.ts';
import { type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import { claim } from './claim.ts';
import { enqueue } from './queue.ts';

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
