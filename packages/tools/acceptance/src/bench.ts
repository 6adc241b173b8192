import { cpus } from 'node:os';
import { chains } from './bench/chains.ts';
import { dashboard } from './bench/dashboard.ts';
import { engines } from './bench/engines.ts';
import { lists } from './bench/lists.ts';
import { orderCreates } from './bench/order-creates.ts';
import { overload } from './bench/overload.ts';
import { firstPaint } from './bench/pay-page/first-paint.ts';
import { openPages } from './bench/pay-page/open-pages.ts';
import { printReport, type Row } from './bench/report.ts';
import { soak } from './bench/soak.ts';
import { measureDrains } from './bench/webhooks/drain.ts';
import { latency } from './bench/webhooks/latency.ts';

/** Each suite starts its own stack. */
const SUITES: Record<string, () => Promise<Row[]>> = {
  orders: orderCreates,
  lists,
  dashboard,
  engines,
  chains,
  overload,
  'pay-page-first-paint': firstPaint,
  'pay-page-open': openPages,
  'webhooks-drain': measureDrains,
  'webhooks-latency': latency,
  soak,
};
/** The suite of a name, or the suites whose names begin with it. */
const suitesOf = (name: string): string[] =>
  name in SUITES ? [name] : Object.keys(SUITES).filter((suite) => suite.startsWith(`${name}-`));
const BY_DEFAULT = ['orders', 'lists', 'dashboard', 'overload', 'engines', 'chains', 'pay-page', 'webhooks'];

const named = process.argv.slice(2);
const names = named.length > 0 ? named : BY_DEFAULT;
const unknown = names.filter((name) => suitesOf(name).length === 0);
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(', ')}: choose from ${Object.keys(SUITES).join(', ')}`);
  process.exit(2);
}
// `exit` also ends the stack.
process.once('SIGTERM', () => process.exit(143));
console.log(`on ${cpus().length} CPUs, Node.js ${process.versions.node}`);
for (const name of names.flatMap(suitesOf)) {
  console.log(`\n${name}`);
  const rows = await SUITES[name]!();
  console.log('');
  printReport(rows);
}
