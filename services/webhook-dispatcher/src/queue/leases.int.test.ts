import { type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import { log } from '../testing/jest-log.ts';
import { startLeases } from './leases.ts';
import { claimReplay, createReplay } from '../replay/replay-table.ts';

const DAY_MS = 86_400_000;

let system: Dispatchers;
beforeEach(async () => {
  system = await dispatchers();
});
afterEach(() => system.close());

const replay = (id: string, now: Date) => {
  const request = { id, webhookId: id, merchantId: 'mer', from: now, to: now, types: [] };
  return createReplay(system.pool, request, now);
};
/** A crashed instance that took its lease while the clock of PostgreSQL was 40 days ahead. */
const leaseAhead = () =>
  system.pool.query("insert into webhooks.instances (id, expires_at) values ('crashed', now() + interval '40 days')");

test('a lease that a clock 40 days ahead took holds up no delivery', async () => {
  await leaseAhead();
  await system.pool.query(
    `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, due_at, leased_by)
     values (now(), 'evt', 'whk', 'dlv', 'ord', 1, now(), 'crashed')`,
  );
  const leases = await startLeases({ pool: system.pool, log, onLost: () => {} });
  try {
    await leases.heartbeat();
    const { rows } = await system.pool.query('select leased_by from webhooks.queue');
    expect(rows).toEqual([{ leased_by: null }]);
  } finally {
    await leases.end();
  }
});

test('a replay that a clock 40 days ahead leased and stepped goes on before others', async () => {
  const now = new Date();
  await leaseAhead();
  await replay('rpl_ahead', new Date(now.getTime() + 40 * DAY_MS));
  await system.pool.query("update webhooks.replays set leased_by = 'crashed'");
  await replay('rpl_waiting', new Date(now.getTime() - DAY_MS));
  expect(await claimReplay(system.pool, 'other', now)).toMatchObject({ id: 'rpl_ahead' });
});
