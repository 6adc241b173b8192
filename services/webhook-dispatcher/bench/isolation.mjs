// How soon events reach sound endpoints while others hang: node bench/isolation.mjs [due deliveries to dead endpoints] [endpoints of each kind]
import { setTimeout as sleep } from 'node:timers/promises';
import { openStage } from './stage.mjs';

const [due = 1_000_000, endpoints = 200] = process.argv.slice(2).map(Number);
const EVENTS = 500;
const stage = await openStage();
const sound = await stage.webhooks(endpoints, 'ok');
const dead = await stage.webhooks(endpoints, 'hang');
if (due > 0) await stage.seed(due, dead);
const { consume } = await stage.start();
await sleep(2_000);

const before = stage.cpu();
const sent = new Map();
for (let n = 0; n < EVENTS; n += 1) {
  const messages = [stage.message(sound[n % endpoints].merchantId), stage.message(dead[n % endpoints].merchantId)];
  sent.set(messages[0].id, Date.now());
  await consume(messages);
  await sleep(10);
}
await sleep(500);
const after = stage.cpu();
const { arrivals } = await stage.arrivals();
const delays = arrivals
  .filter(([id]) => sent.has(id))
  .map(([id, at]) => at - sent.get(id))
  .sort((a, b) => a - b);
const quantile = (q) => delays[Math.min(delays.length - 1, Math.floor(q * delays.length))];
console.log({
  dueToDead: due,
  deadEndpoints: endpoints,
  arrived: `${delays.length} of ${EVENTS}`,
  delayMs: { median: quantile(0.5), p99: quantile(0.99), max: delays.at(-1) },
  cpuSeconds: { node: after.node - before.node, postgres: after.postgres - before.postgres },
  rssMiB: Math.round(process.memoryUsage().rss / 2 ** 20),
});
await stage.close();
