import { setTimeout as sleep } from 'node:timers/promises';
import { isTransientDatabaseError, type Pool } from '@cpg/postgres';
import { retry } from '@cpg/runtime';
import type { PoolClient } from 'pg';
import { openPool } from '../storage/pool.ts';
import { type DatabaseLine, layDatabaseLine } from '../testing/jest-database-line.ts';
import { type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { log } from '../testing/jest-log.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';
import { ENDPOINT_LIMITS } from './endpoint.ts';

const CAPACITY = { deliveries: 40, bytes: 1_048_576, attempts: 5 };

let system: Dispatchers;
let receiver: Receiver;
let line: DatabaseLine;
let pool: Pool;
let blocker: PoolClient;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
  line = await layDatabaseLine(system.databaseUrl);
  pool = openPool(line.url, { max: 5, log });
  blocker = await system.pool.connect();
});
afterEach(async () => {
  blocker.release();
  await system.close();
  await pool.end();
  line.close();
  await receiver.close();
});

const away = { stop: async () => line.cut(), goOn: async () => line.mend() };
const slow = {
  stop: async () => {
    await blocker.query('begin');
    await blocker.query('lock table webhooks.deliveries in exclusive mode');
  },
  goOn: () => blocker.query('commit'),
};

test.each([
  ['away', away],
  ['slow', slow],
])('while the database is %s, no more than the slots is attempted and nothing is taken in', async (_how, database) => {
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
  let takenIn = 0;
  const outages: unknown[] = [];
  const takingIn = [batch(), batch(), batch()].map(async (messages) => {
    await retry(() => consume(messages), { onError: (error) => outages.push(error) });
    takenIn += 1;
  });
  while (instance.counts().unrecorded < CAPACITY.attempts) await sleep(10);
  await sleep(200);
  expect(receiver.received).toHaveLength(CAPACITY.attempts);
  expect(instance.counts()).toMatchObject({ inFlight: 0, unrecorded: CAPACITY.attempts });
  expect(takenIn).toBe(0);
  expect(outages.filter((error) => !isTransientDatabaseError(error))).toEqual([]);

  await database.goOn();
  await Promise.all(takingIn);
  await system.eventually("select 1 from webhooks.deliveries having count(*) = 50 and bool_and(status = 'delivered')");
  expect(new Set(receiver.received.map(({ headers }) => headers['x-delivery-id'])).size).toBe(50);
});

test('what is to be given back while the database is away is attempted all the same', async () => {
  const limits = { ...ENDPOINT_LIMITS, slots: 1, failuresToHold: 1, holdMs: 50 };
  const { instance, consume } = await system.start({ pool, limits, schedule: [0.1] });
  const { merchantId } = await system.webhook(receiver.url);
  const some = () => [1, 2, 3].map(() => message({ type: 'order.created', merchantId }));
  const answering: (() => void)[] = [];
  receiver.answer = (_request, response) => void answering.push(() => response.writeHead(500).end());
  await consume(some());
  await receiver.arrived(1);

  line.cut();
  await expect(consume(some())).rejects.toThrow();
  receiver.answer = respond(200);
  answering.shift()!();
  while (instance.counts().unrecorded < 1) await sleep(10);
  await sleep(100);
  line.mend();
  await system.eventually("select 1 from webhooks.deliveries having count(*) = 3 and bool_and(status = 'delivered')");
});
