// What the measurements share: a PostgreSQL of their own, receivers in a process of their own, webhooks, and CPU time.
import { fork } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@cpg/embedded-postgres';
import { migrate } from '@cpg/postgres';
import { createLogger, newId, secretBox } from '@cpg/runtime';
import { ENDPOINT_LIMITS } from '../dist/delivery/endpoint.js';
import { startInstance } from '../dist/delivery/instance.js';
import { DEFAULT_SCHEDULE } from '../dist/delivery/schedule.js';
import { createSender } from '../dist/delivery/send.js';
import { deliverEvents } from '../dist/reactions/events.js';
import { sampleEvent } from '../dist/samples.js';
import { createPartitions, DEFAULT_RETENTION } from '../dist/storage/partitions.js';
import { openPool } from '../dist/storage/pool.js';
import { createDirectory } from '../dist/webhooks/directory.js';

const CLOCK_TICKS = 100;

const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

export const openStage = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-bench-'));
  const postgres = await startPostgres({ dataDir: join(folder, 'pg'), port: await freePort(), password: 'bench' });
  await postgres.createDatabase('bench');
  const log = createLogger({ name: 'bench', level: process.env.LOG_LEVEL ?? 'warn' });
  const pool = openPool(postgres.url('bench'), { max: 8, log });
  await pool.query(`create schema gateway; create table gateway.webhooks (
    id text primary key, merchant_id text not null, url text not null, events text[] not null, is_enabled boolean not null,
    disabled_reason text, secret_box text not null, previous_secret_box text, previous_secret_until timestamptz,
    created_at timestamptz not null default now(), updated_at timestamptz, deleted_at timestamptz)`);
  await migrate(pool, { schema: 'webhooks', folder: join(import.meta.dirname, '../migrations') });
  const receiver = fork(join(import.meta.dirname, 'receiver.mjs'));
  const { port } = await new Promise((done) => receiver.once('message', done));
  const box = secretBox(['a key of at least 32 characters for the bench']);
  const now = () => new Date();
  const stops = [];

  return {
    pool,
    start: async () => {
      const webhooks = createDirectory({ pool, box, now });
      const sender = createSender({ allowLocal: true, connections: ENDPOINT_LIMITS.maxSlots, now });
      const instance = await startInstance({
        pool,
        sender,
        webhooks,
        schedule: DEFAULT_SCHEDULE,
        retention: DEFAULT_RETENTION,
        now,
        random: Math.random,
        log,
      });
      stops.push(() => instance.stop(0).then(() => sender.close()));
      return {
        instance,
        consume: deliverEvents({ webhooks, takeIn: instance.takeIn, retention: DEFAULT_RETENTION, now, log }),
      };
    },
    /** One enabled webhook each for `count` merchants. */
    webhooks: async (count, path) => {
      const made = Array.from({ length: count }, () => ({ id: newId('webhook'), merchantId: newId('merchant') }));
      const secret = box.seal(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);
      await pool.query(
        `insert into gateway.webhooks (id, merchant_id, url, events, is_enabled, secret_box)
         select id, merchant, $3 || id, array['order:updated'], true, $4 from unnest($1::text[], $2::text[]) as w (id, merchant)`,
        [
          made.map(({ id }) => id),
          made.map(({ merchantId }) => merchantId),
          `http://127.0.0.1:${port}/${path}/`,
          secret,
        ],
      );
      return made;
    },
    /** Deliveries due now that nobody holds, each of an event and an order of its own, in turn for each webhook. */
    seed: async (count, webhooks) => {
      const partitions = createPartitions(pool, { now, retention: DEFAULT_RETENTION });
      await partitions.ensureAhead();
      const { body } = sampleEvent('order:updated', newId('merchant'), now());
      const rows = `select 'evt_' || lpad(n::text, 26, '0') as event_id, 'ord_' || lpad(n::text, 26, '0') as order_id,
        'dlv_' || lpad(n::text, 26, '0') as id, ($2::text[])[1 + n % cardinality($2::text[])] as webhook_id, $3::text as body
        from generate_series($1::int, $4::int) as n`;
      for (let from = 1; from <= count; from += 20_000) {
        const values = [from, webhooks.map(({ id }) => id), body.toString(), Math.min(count, from + 19_999)];
        await pool.query(
          `insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body)
        select (now() at time zone 'utc')::date, event_id, webhook_id, order_id, 'order:updated', now(), '1', body from (${rows}) as r`,
          values,
        );
        await pool.query(
          `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, created_at)
        select (now() at time zone 'utc')::date, event_id, webhook_id, id, 'order:updated', now() from (${rows}) as r`,
          values,
        );
        await pool.query(
          `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, due_at)
        select (now() at time zone 'utc')::date, event_id, webhook_id, id, order_id, length(body), now() from (${rows}) as r`,
          values,
        );
      }
    },
    message: (merchantId) => {
      const event = sampleEvent('order:updated', merchantId, now());
      const { data } = JSON.parse(event.body.toString());
      return {
        id: event.id,
        type: 'order.updated',
        time: now().toISOString(),
        sequence: '1',
        merchantid: merchantId,
        orderid: event.orderId,
        data: { change: {}, resource: data },
      };
    },
    arrivals: () =>
      new Promise((done) => {
        receiver.once('message', done);
        receiver.send({});
      }),
    /** Seconds of CPU used so far by this process and by PostgreSQL. */
    cpu: () => {
      const { user, system } = process.cpuUsage();
      return { node: (user + system) / 1e6, postgres: treeCpu(postgres.process.pid) };
    },
    close: async () => {
      for (const stop of stops) await stop();
      receiver.kill();
      await pool.end();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

// Fields 14 to 17 of /proc/<pid>/stat: own time and that of children that have ended. Source: proc(5).
const treeCpu = (root) => {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
      if (Number(pid) === root) ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      else if (Number(fields[1]) === root) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It ended meanwhile.
    }
  }
  return ticks / CLOCK_TICKS;
};
