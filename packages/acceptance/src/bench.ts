import { cpus } from 'node:os';
import { engines } from './bench/engines.ts';
import { orderCreates } from './bench/order-creates.ts';
import { printReport, type Row } from './bench/report.ts';
import { soak } from './bench/soak.ts';
import { webhooks } from './bench/webhooks.ts';

/** Each measures a stack of its own, and next to each number what the machine can do at all, in the same run. */
const SUITES: Record<string, () => Promise<Row[]>> = { orders: orderCreates, engines, webhooks, soak };
const BY_DEFAULT = ['orders', 'engines', 'webhooks'];

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in SUITES));
if (unknown.length > 0) {
  console.error(`there is no benchmark ${unknown.join(', ')}: choose among ${Object.keys(SUITES).join(', ')}`);
  process.exit(2);
}
console.log(`on ${cpus().length} CPUs, Node.js ${process.versions.node}`);
for (const name of chosen.length > 0 ? chosen : BY_DEFAULT) {
  console.log(`\n${name}`);
  const rows = await SUITES[name]!();
  console.log('');
  printReport(rows);
}
