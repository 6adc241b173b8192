import { setTimeout as sleep } from 'node:timers/promises';
import { isTransientDatabaseError, type Pool } from '@cpg/platform/postgres';
import { retry } from '@cpg/platform';
import type { PoolClient } from 'pg';
import { openPool } from './queue-table.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../testing/jest-database-proxy.ts';
import { type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { log } from '../testing/jest-log.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';
import { ENDPOINT_LIMITS } from '../attempts/endpoint.ts';

const CAPACITY = { deliveries: 40, bytes: 1_048_576, attempts: 5 };

let system: Dispatchers;
let receiver: Receiver;
let proxy: DatabaseProxy;
let pool: Pool;
let blocker: PoolClient;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
  proxy = await startDatabaseProxy(system.databaseUrl);
  pool = openPool(proxy.url, { max: 5, log });
  blocker = await system.pool.connect();
});
afterEach(async () => {
  blocker.release();
  await system.close();
  await pool.end();
  proxy.close();
  await receiver.close();
});

const unavailable = {
  stop: async () => proxy.disconnect(),
  /** Every session of the pool has asked for the database in vain. */
  isFelt: async () => proxy.refused() > 5,
  resume: async () => proxy.reconnect(),
};
const slow = {
  stop: async () => {
    await blocker.query('begin');
    await blocker.query('lock table webhooks.deliveries in exclusive mode');
  },
  /** Statements wait for the lock. */
  isFelt: async () => {
    await blocker.query('select pg_stat_clear_snapshot()'); // a transaction keeps its first answer
    const { rows } = await blocker.query(`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return rows.length > 1;
  },
  resume: () => blocker.query('commit'),
};

test.each([
  ['unavailable', unavailable],
  ['slow', slow],
])(
  'while the database is %s, attempts stop when all slots are used, and no event is ingested',
  async (_state, database) => {
    const { instance, consume } = await system.start({ pool, capacity: CAPACITY });
    const merchants = await Promise.all(Array.from({ length: 10 }, (_, n) => system.webhook(`${receiver.url}/${n}`)));
    const batch = () => merchants.map(({ merchantId }) => message({ type: 'order.created', merchantId }));
    const answering: (() => void)[] = [];
    receiver.answer = (_request, response) => void answering.push(() => response.end());
    await consume([...batch(), ...batch()]);
    await receiver.arrived(CAPACITY.attempts);

    await database.stop();
    receiver.answer = respond(200);
    for (const answer of answering) answer();
    let ingested = 0;
    const outages: unknown[] = [];
    const ingesting = [batch(), batch(), batch()].map(async (messages) => {
      await retry(() => consume(messages), { onError: (error) => outages.push(error) });
      ingested += 1;
    });
    while (instance.counts().unrecorded < CAPACITY.attempts || !(await database.isFelt())) await sleep(10);
    // A request that is sent now arrives after an attempt that was made before.
    await fetch(`${receiver.url}/later`);
    expect(receiver.received.splice(CAPACITY.attempts).map(({ path }) => path)).toEqual(['/later']);
    expect(receiver.received).toHaveLength(CAPACITY.attempts);
    expect(instance.counts()).toMatchObject({ inFlight: 0, unrecorded: CAPACITY.attempts });
    expect(ingested).toBe(0);
    expect(outages.filter((error) => !isTransientDatabaseError(error))).toEqual([]);

    await database.resume();
    await Promise.all(ingesting);
    await system.eventually(
      "select 1 from webhooks.deliveries having count(*) = 50 and bool_and(status = 'delivered')",
    );
    expect(new Set(receiver.received.map(({ headers }) => headers['x-delivery-id'])).size).toBe(50);
  },
);

test('deliveries that could not be requeued during an outage are attempted afterwards', async () => {
  const limits = { ...ENDPOINT_LIMITS, concurrency: { initial: 1, max: 1 }, failuresToOpen: 1, openMs: 50 };
  const { instance, consume } = await system.start({ pool, limits, schedule: [0.1] });
  const { merchantId } = await system.webhook(receiver.url);
  const batch = () => [1, 2, 3].map(() => message({ type: 'order.created', merchantId }));
  const answering: (() => void)[] = [];
  receiver.answer = (_request, response) => void answering.push(() => response.writeHead(500).end());
  await consume(batch());
  await receiver.arrived(1);

  proxy.disconnect();
  await expect(consume(batch())).rejects.toThrow();
  receiver.answer = respond(200);
  answering.shift()!();
  const refusedBefore = proxy.refused();
  while (instance.counts().unrecorded < 1 || proxy.refused() < refusedBefore + 3) await sleep(10);
  proxy.reconnect();
  await system.eventually("select 1 from webhooks.deliveries having count(*) = 3 and bool_and(status = 'delivered')");
});
