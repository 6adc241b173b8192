import { type Queryable, transaction } from '@cpg/postgres';
import { newId } from '@cpg/runtime';
import type { ToldEvent } from '../delivery/payload.ts';
import { sampleEvent } from '../samples.ts';
import { type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import { claim, enqueue } from './queue.ts';

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

/** So many events of an order are queued for the webhook, in nobody's hands. */
const queued = (orderId: string, { attempts, dueAt }: { attempts: number; dueAt: Date }) =>
  queue.pool.query(
    `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, attempts, due_at)
     select $1::date, $3 || n, $2, $3 || n, $3, 10, $4, $5::timestamptz from generate_series(1, ${ROWS}) as n`,
    [now, webhookId, orderId, attempts, dueAt],
  );

/** Does the work, and tells how many rows of the queue were read for it. */
const reading = <T>(work: (db: Queryable) => Promise<T>): Promise<{ result: T; rowsRead: number }> =>
  transaction(queue.pool, async (db) => {
    const soFar = async () => {
      const { rows } = await db.query<{ read: string }>(
        `select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables
         where schemaname = 'webhooks' and relname = 'queue'`,
      );
      return Number(rows[0]!.read);
    };
    const before = await soFar();
    const result = await work(db);
    return { result, rowsRead: (await soFar()) - before };
  });

const claiming = (room: number, at = now) =>
  reading((db) => claim(db, { turns: [{ webhookId, room }], bytes: 1e9, holder: 'us', now: at }));

const eventOf = (orderId: string): ToldEvent => ({ ...sampleEvent('order:updated', merchantId, now), orderId });

test('claiming much of one order reads each row a few times, not once for every other', async () => {
  await queued('of-one-order', { attempts: 0, dueAt: now });
  const { result, rowsRead } = await claiming(ROWS);
  expect(result).toHaveLength(ROWS);
  expect(rowsRead).toBeLessThan(10 * ROWS);
});

test('what waits to be tried again is not read for each new event of its order', async () => {
  const orderId = 'tried-before';
  await queued(orderId, { attempts: 1, dueAt: new Date(now.getTime() + 60_000) });
  const events = Array.from({ length: 50 }, () => eventOf(orderId));
  const addressed = events.map((event) => ({ id: newId('delivery', now), event, webhookId, lease: true }));
  const taken = await reading((db) => enqueue(db, { events, addressed, holder: 'us', now }));
  expect(taken.result?.every(({ leased }) => leased)).toBe(true);
  expect(taken.rowsRead).toBeLessThan(5 * ROWS);
  await queue.pool.query('update webhooks.queue set leased_by = null');
  const claimed = await claiming(ROWS);
  expect(claimed.result).toHaveLength(events.length);
  expect(claimed.rowsRead).toBeLessThan(5 * ROWS);
});

test('a first attempt is claimed when all before it in its lane are, or are ours', async () => {
  await queued('in-order', { attempts: 0, dueAt: now });
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
  expect((await claiming(ROWS)).result.map(({ position: at }) => at)).toEqual([await position(1)]);
  await lease(2, null);
  expect((await claiming(ROWS)).result).toHaveLength(ROWS - 2);
});
