// How fast one dispatcher drains pending deliveries: node bench/drain.mjs [deliveries] [endpoints]
import { setTimeout as sleep } from 'node:timers/promises';
import { openStage } from './stage.mjs';

const [deliveries = 50_000, endpoints = 100] = process.argv.slice(2).map(Number);
const stage = await openStage();
const webhooks = await stage.webhooks(endpoints, 'ok');
await stage.seed(deliveries, webhooks);
const idle = process.memoryUsage().rss;
const before = stage.cpu();
const startedMs = performance.now();
await stage.start();
const left = async () => Number((await stage.pool.query('select count(*) from webhooks.queue')).rows[0].count);
while ((await left()) > 0) await sleep(50);
const seconds = (performance.now() - startedMs) / 1_000;
const after = stage.cpu();
const { rows } = await stage.pool.query('select count(*) from webhooks.attempts');
const perThousand = (name) => (((after[name] - before[name]) / deliveries) * 1_000).toFixed(3);
console.log({
  deliveries,
  endpoints,
  attempts: Number(rows[0].count),
  seconds: Number(seconds.toFixed(2)),
  perSecond: Math.round(deliveries / seconds),
  cpuSecondsPerThousand: { node: perThousand('node'), postgres: perThousand('postgres') },
  memoryMiB: Object.fromEntries(
    Object.entries(process.memoryUsage()).map(([name, bytes]) => [name, Math.round(bytes / 2 ** 20)]),
  ),
  idleRssMiB: Math.round(idle / 2 ** 20),
});
await stage.close();
