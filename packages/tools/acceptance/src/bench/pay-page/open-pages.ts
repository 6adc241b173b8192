import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Pool } from 'undici';
import { type Stack, startStack } from '../../harness/stack.ts';
import { until } from '../../harness/until.ts';
import { orderClient } from '../order-client.ts';
import { cpuMs, residentBytes } from '../process-costs.ts';
import { ms, rate, type Row } from '../report.ts';
import { sustained } from '../timings.ts';
import type { PayersMessage } from './payers.ts';

const PAYERS = fileURLToPath(new URL('./payers.js', import.meta.url));
const PAGES = 10_000;
const CONNECTIONS = 24;
const RENDER_MS = 8_000;
const WARM_UP_MS = 5_000;
/** Until what was allocated to open the pages is collected. */
const SETTLE_MS = 10_000;
const IDLE_MS = 15_000;
const WITHIN = { withinMs: 300_000 };

/** Measures renders, and 10,000 open pages that change at once. */
export const openPages = async (): Promise<Row[]> => {
  const streams = String(2 * PAGES);
  const stack = await startStack({ env: { PAY_PAGE_STREAMS: streams, PAY_PAGE_STREAMS_PER_ADDRESS: streams } });
  try {
    console.log(`${PAGES} orders`);
    const paths = await createPages(stack);
    console.log('renders');
    const rendered = await measureRenders(stack, paths);
    console.log('open pages');
    return [...rendered, ...(await measureOpenPages(stack, paths))];
  } finally {
    await stack.stop();
  }
};

const createPages = async (stack: Stack): Promise<string[]> => {
  const orders = orderClient({ ...stack, connections: CONNECTIONS });
  const paths: string[] = [];
  const creator = async () => {
    while (paths.length < PAGES) {
      const { payment_reference } = JSON.parse(await orders.createOrder()) as { payment_reference: string };
      paths.push(`/pay/${payment_reference}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, creator));
  await orders.close();
  return paths;
};

const measureRenders = async (stack: Stack, paths: readonly string[]): Promise<Row[]> => {
  const pool = new Pool(stack.baseUrl, { connections: CONNECTIONS, pipelining: 1 });
  const gateway = stack.pidOf('gateway')!;
  let n = 0;
  const render = async () => {
    n += 1;
    const path = paths[n % paths.length]!;
    const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { accept: 'text/html' } });
    await body.dump();
    if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}`);
  };
  await sustained({ at: CONNECTIONS, forMs: WARM_UP_MS }, render);
  const before = cpuMs(gateway);
  const { perSecond, count } = await sustained({ at: CONNECTIONS, forMs: RENDER_MS }, render);
  const cpu = (cpuMs(gateway) - before) / count;
  await pool.close();
  return [
    { measure: `page renders per second, ${CONNECTIONS} connections`, measured: rate(perSecond) },
    { measure: 'CPU of the gateway per render', measured: ms(cpu) },
  ];
};

const measureOpenPages = async (stack: Stack, paths: readonly string[]): Promise<Row[]> => {
  const [gateway, postgres] = [stack.pidOf('gateway')!, stack.pidOf('postgres')!];
  const cpu = () => [cpuMs(gateway), cpuMs(postgres)] as const;
  const pages = `${PAGES.toLocaleString('en')} open pages`;
  const emptyBytes = residentBytes(gateway);
  const payers = fork(PAYERS, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    let latest: PayersMessage = { opened: 0, changed: 0, lastChangeAtMs: 0 };
    payers.on('message', (message: PayersMessage) => void (latest = message));
    payers.send(paths.map((path) => `${stack.baseUrl}${path}/events`));
    await until('every page to be open', () => latest.opened === paths.length, WITHIN);
    await sleep(SETTLE_MS);
    const idle = cpu();
    await sleep(IDLE_MS);
    const opened = cpu();
    const bytesPerPage = (residentBytes(gateway) - emptyBytes) / paths.length;
    const change = await prepareCancels(stack);
    const before = cpu();
    const changedAtMs = performance.timeOrigin + performance.now();
    await change();
    await until('every page to change', () => latest.changed >= paths.length, WITHIN);
    const after = cpu();
    const idlePerSecond = (index: 0 | 1) => ms(((opened[index] - idle[index]) * 1_000) / IDLE_MS);
    return [
      { measure: `${pages}: memory of the gateway per page`, measured: `${(bytesPerPage / 1_024).toFixed(1)} KiB` },
      { measure: `${pages}: CPU of the gateway per second, idle`, measured: idlePerSecond(0) },
      { measure: `${pages}: CPU of PostgreSQL per second, idle`, measured: idlePerSecond(1) },
      { measure: `${pages}: until all show a change`, measured: ms(latest.lastChangeAtMs - changedAtMs) },
      { measure: `${pages}: CPU of the gateway for that`, measured: ms(after[0] - before[0]) },
      { measure: `${pages}: CPU of PostgreSQL for that`, measured: ms(after[1] - before[1]) },
    ];
  } finally {
    payers.kill();
  }
};

/** Changes the row of every order, as the projection does. Returns the commit. */
const prepareCancels = async ({ databaseUrl }: Stack): Promise<() => Promise<void>> => {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query('begin');
  await client.query(`update orders.orders set status = 'canceled', revision = revision + 1,
    resource = replace(resource::text, '"status":"awaiting_payment"', '"status":"canceled"')::json
    where status = 'awaiting_payment'`);
  return async () => {
    await client.query('commit');
    await client.end();
  };
};
