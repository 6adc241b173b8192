import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@cpg/embedded-postgres';
import { freePort } from '@cpg/ports';
import { newId } from '@cpg/platform';
import pg from 'pg';
import { type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';

let folder: string;
let server: Awaited<ReturnType<typeof startPostgres>>;
let system: Dispatchers;
let receiver: Receiver;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crash-'));
  server = await startPostgres({ dataDir: join(folder, 'postgres'), port: await freePort(), password: 'secret' });
  process.env.POSTGRES_URL = server.url('postgres');
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
  // Otherwise commits reach the disk within 0.6 s, and a crash loses few of them.
  await system.pool.query("alter system set wal_writer_delay = '10s'");
  await system.pool.query('select pg_reload_conf()');
});
afterAll(async () => {
  await system.close();
  await receiver.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Kills one session's process. PostgreSQL then ends all sessions, gives up its shared memory with the log records that
 *  are not on disk, and recovers. */
const crash = async () => {
  const session = new pg.Client({ connectionString: system.databaseUrl });
  const ended = new Promise((resolve) => session.once('error', resolve));
  await session.connect();
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
  process.kill(rows[0]!.pid, 'SIGKILL');
  await ended;
};

test('no message is lost when PostgreSQL crashes during ingests', async () => {
  receiver.answer = respond(200);
  const { consume } = await system.start({ leaseMs: 60_000 });
  const { merchantId } = await system.webhook(receiver.url);
  const messages = Array.from({ length: 1_500 }, () =>
    message({ type: 'order.created', merchantId, orderId: newId('order') }),
  );
  // As the Kafka consumer: it repeats a batch until it is ingested.
  let position = 0;
  const consuming = (async () => {
    while (position < messages.length) {
      try {
        await consume(messages.slice(position, position + 5));
        position += 5;
      } catch {
        await sleep(20);
      }
    }
  })();
  for (let crashes = 1; crashes <= 4; crashes += 1) {
    while (position < crashes * 250) await sleep(1);
    await crash().catch(() => {});
  }
  await consuming;
  const { rows } = await system.pool.query('select id from webhooks.events order by id');
  expect(rows.map(({ id }) => id)).toEqual(messages.map(({ id }) => id).sort());
  const missing = () => {
    const received = new Set(receiver.received.map(({ headers }) => headers['x-idempotency-key']));
    return messages.filter(({ id }) => !received.has(id)).length;
  };
  while (missing() > 0) await sleep(50);
  await system.eventually('select 1 where not exists (select from webhooks.queue)');
});
