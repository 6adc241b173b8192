import { createPool, migrate, type Pool, testDatabase } from '@cpg/platform/postgres';
import { createLogger } from '@cpg/platform';
import { watchDeadlines } from './deadlines.ts';
import type { RunDue } from './run-due.ts';
import { MIGRATIONS } from '../migrations.ts';
import type { OrderHandler } from '../commands/order-handler.ts';
import type { Order } from '../order/state.ts';
import { until } from '../testing/jest-orders.ts';

const DAY_MS = 86_400_000;
const log = createLogger({ name: 'test', level: 'silent' });
const NOW = new Date('2026-01-10T12:00:00Z');
const at = (ms: number) => new Date(NOW.getTime() + ms);

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'deadlines-test', log });
  await migrate(pool, MIGRATIONS);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => pool.query('delete from orders.orders'));

const insert = (id: string, row: { status?: string; dueAt: Date; claimedUntil?: Date }) =>
  pool.query(
    `insert into orders.orders (id, merchant_id, status, currency, created_at, revision, due_at, claimed_until)
     values ($1, 'mer', $2, 'USDC', $3, 0, $4, $5)`,
    [id, row.status ?? 'awaiting_payment', at(-DAY_MS), row.dueAt, row.claimedUntil],
  );

/** Runs the deadlines until they run `last`, and resolves to the ids of what they ran. */
const runUntil = async (last: string, endsBy = () => NOW): Promise<string[]> => {
  const ran: string[] = [];
  const handler = { load: async (id: string) => ({ state: { orderId: id } as unknown as Order }) } as OrderHandler;
  const runDue: RunDue = async (order) => {
    ran.push(order.orderId);
    await pool.query('update orders.orders set due_at = null where id = $1', [order.orderId]);
    return order;
  };
  const watching = watchDeadlines({ readModel: pool, handler, runDue, now: () => NOW, endsBy, log, everyMs: 5 });
  try {
    await until(async () => ran.includes(last));
  } finally {
    await watching.stop();
  }
  return ran.toSorted();
};

test('while the clock is not trusted no order ends, and orders still get their instructions', async () => {
  await insert('ord_due', { dueAt: at(-1) });
  await insert('ord_without_instructions', { status: 'initialized', dueAt: at(-1) });
  const paused = await runUntil('ord_without_instructions', () => new Date(0));
  expect(paused).toEqual(['ord_without_instructions']);
  expect(await runUntil('ord_due')).toEqual(['ord_due']);
});

test('a claim that a clock 40 days ahead made holds nothing up', async () => {
  await insert('ord_claimed_ahead', { dueAt: at(-1), claimedUntil: at(40 * DAY_MS) });
  await insert('ord_claimed', { dueAt: at(-1), claimedUntil: at(30_000) });
  expect(await runUntil('ord_claimed_ahead')).toEqual(['ord_claimed_ahead']);
});
