import { AppError } from '@cpg/contracts';
import { UnreadableEventError } from '@cpg/event-sourcing';
import type { Pool } from '@cpg/platform/postgres';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import { createLogger } from '@cpg/platform';
import { type RunDue, watchDeadlines } from './deadlines.ts';
import { MIGRATIONS } from '../migrations.ts';
import type { OrderHandler } from '../commands/order-handler.ts';
import type { Order } from '../order/state.ts';
import { until } from '../testing/jest-orders.ts';

const DAY_MS = 86_400_000;
const log = createLogger({ name: 'test', level: 'silent' });
const NOW = new Date('2026-01-10T12:00:00Z');
const at = (ms: number) => new Date(NOW.getTime() + ms);

let database: Awaited<ReturnType<typeof migratedDatabase>>;
let pool: Pool;
beforeAll(async () => {
  database = await migratedDatabase(MIGRATIONS);
  pool = database.pool;
});
afterAll(() => database.stop());
beforeEach(() => pool.query('delete from orders.orders'));

const insert = (id: string, row: { status?: string; dueAt: Date; claimedUntil?: Date }) =>
  pool.query(
    `insert into orders.orders (id, merchant_id, status, currency, created_at, revision, due_at, claimed_until)
     values ($1, 'mer', $2, 'USDC', $3, 0, $4, $5)`,
    [id, row.status ?? 'awaiting_payment', at(-DAY_MS), row.dueAt, row.claimedUntil],
  );

/** Runs the deadlines until they ran `last`, and resolves to the ids of what they ran. */
const runUntil = async (
  last: string | string[],
  { endsBy = () => NOW, whileRunning = async () => {} } = {},
): Promise<string[]> => {
  const ran: string[] = [];
  const handler = { load: async (id: string) => ({ state: { orderId: id } as unknown as Order }) } as OrderHandler;
  const runDue: RunDue = async (order) => {
    await whileRunning();
    ran.push(order.orderId);
    await pool.query('update orders.orders set due_at = null where id = $1', [order.orderId]);
    return order;
  };
  const watching = watchDeadlines({ readModel: pool, handler, runDue, now: () => NOW, endsBy, log, everyMs: 5 });
  try {
    await until(async () => [last].flat().every((id) => ran.includes(id)));
  } finally {
    await watching.stop();
  }
  return ran.toSorted();
};

test('while the clock is not trusted no order ends, and orders still get their instructions', async () => {
  await insert('ord_due', { dueAt: at(-1) });
  await insert('ord_without_instructions', { status: 'initialized', dueAt: at(-1) });
  const paused = await runUntil('ord_without_instructions', { endsBy: () => new Date(0) });
  expect(paused).toEqual(['ord_without_instructions']);
  expect(await runUntil('ord_due')).toEqual(['ord_due']);
});

test('eight orders run at once at most, so that a batch leaves connections to others', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `ord_${String(n).padStart(2, '0')}`);
  await Promise.all(ids.map((id) => insert(id, { dueAt: at(-1) })));
  let running = 0;
  let most = 0;
  const ran = await runUntil(ids, {
    whileRunning: async () => {
      most = Math.max(most, (running += 1));
      await pool.query('select 1');
      running -= 1;
    },
  });
  expect(ran).toEqual(ids);
  expect(most).toBe(8);
});

test('a claim that a clock 40 days ahead made holds nothing up', async () => {
  await insert('ord_claimed_ahead', { dueAt: at(-1), claimedUntil: at(40 * DAY_MS) });
  await insert('ord_claimed', { dueAt: at(-1), claimedUntil: at(30_000) });
  expect(await runUntil('ord_claimed_ahead')).toEqual(['ord_claimed_ahead']);
});

const claimed = async () => {
  const { rows } = await pool.query<{ id: string }>('select id from orders.orders where claimed_until = $1', [
    at(30_000),
  ]);
  return rows.map(({ id }) => id).toSorted();
};

test('orders are claimed from the instant at which they are due, and once no claim holds them', async () => {
  await insert('a_due', { dueAt: at(0) });
  await insert('b_due_later', { dueAt: at(1) });
  await insert('c_claim_ended', { dueAt: at(-1), claimedUntil: at(-1) });
  await insert('d_claimed', { dueAt: at(-1), claimedUntil: at(0) });
  await insert('e_claimed_for_long', { dueAt: at(-1), claimedUntil: at(3_660_000) });
  await insert('f_claimed_by_a_clock_ahead', { dueAt: at(-1), claimedUntil: at(3_660_001) });
  await runUntil('a_due');
  expect(await claimed()).toEqual(['a_due', 'c_claim_ended', 'f_claimed_by_a_clock_ahead']);
});

test('orders end by the time that is trusted, and get instructions by any', async () => {
  await insert('a_due', { dueAt: at(-1_000) });
  await insert('b_due_later', { dueAt: at(-999) });
  await insert('c_without_instructions', { status: 'initialized', dueAt: at(-999) });
  await runUntil('a_due', { endsBy: () => at(-1_000) });
  expect(await claimed()).toEqual(['a_due', 'c_without_instructions']);
});

const unreadable = new UnreadableEventError(
  { stream: 'order-1', revision: 3, type: 'OrderPaid' },
  new Error('no JSON'),
);

// `null`: the order keeps the claim that it has.
test.each<[string, waitedMs: number, result: Awaited<ReturnType<RunDue>> | Error, afterS: number | null]>([
  ['awaits chains, at first', 1_000, 'awaits chains', 1],
  ['awaits chains, a tenth of the time later', 100_000, 'awaits chains', 10],
  ['awaits chains, and at least once a minute', 3_600_000, 'awaits chains', 60],
  ['has no instructions yet', 1_000, null, 5],
  ['fails', 1_000, new Error('a bug'), 5],
  ['meets an outage', 1_000, new AppError('dependency_unavailable', 'later'), 1],
  ['cannot be read', 1_000, unreadable, 3_600],
  ['is deleted', 1_000, new AppError('not_found', 'deleted'), null],
])('a due order that %s is looked at again in time', async (what, waitedMs, result, afterS) => {
  await insert('ord_1', { dueAt: at(-waitedMs) });
  await insert('ord_2', { dueAt: at(1) });
  const status = result === null ? 'initialized' : 'awaiting_payment';
  const state = { orderId: 'ord_1', status, capabilities: {}, expiresAt: at(-waitedMs).toISOString() };
  const handler = { load: async () => ({ state }), evict: () => {} } as unknown as OrderHandler;
  let wasRun = false;
  const runDue: RunDue = async () => {
    wasRun = true;
    if (result instanceof Error) throw result;
    return result;
  };
  const watching = watchDeadlines({
    readModel: pool,
    handler,
    runDue,
    now: () => NOW,
    endsBy: () => NOW,
    log,
    everyMs: 5,
  });
  await until(async () => wasRun);
  await watching.stop();
  const { rows } = await pool.query('select claimed_until from orders.orders order by id');
  expect([what, ...rows.map((row) => row.claimed_until)]).toEqual([what, at((afterS ?? 30) * 1_000), null]);
});

test('a due order whose cached state is not due is read again', async () => {
  await insert('ord_1', { dueAt: at(-1) });
  const evicted: string[] = [];
  const handler = {
    load: async () => ({ state: { orderId: 'ord_1', status: 'awaiting_payment' } }),
    evict: (id: string) => void evicted.push(id),
  } as unknown as OrderHandler;
  const watching = watchDeadlines({
    readModel: pool,
    handler,
    runDue: async () => null,
    now: () => NOW,
    endsBy: () => NOW,
    log,
    everyMs: 5,
  });
  await until(async () => evicted.length > 0);
  await watching.stop();
  expect(evicted).toEqual(['ord_1']);
  expect(await claimed()).toEqual(['ord_1']);
});
