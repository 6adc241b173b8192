import pg from 'pg';
import { Pool } from 'undici';
import { orderBody } from '../../harness/order-bodies.ts';
import { type Stack, startStack } from '../../harness/stack.ts';
import { cpuSeconds } from '../cpu.ts';
import { ms, type Row } from '../report.ts';
import { sustained } from '../timings.ts';
import { type Server, withBareServer } from './bare-server.ts';
import { costOfOpenPages, type OpenPagesCost } from './open-pages-cost.ts';

const PAGES = 10_000;
const CONNECTIONS = 24;
const RENDER_MS = 8_000;
const WARM_UP_MS = 5_000;

/** Measures renders and 10,000 open pages against Fastify with a constant page; needs /proc. */
export const openPages = async (): Promise<Row[]> => {
  const streams = String(2 * PAGES);
  const stack = await startStack({ env: { PAY_PAGE_STREAMS: streams, PAY_PAGE_STREAMS_PER_ADDRESS: streams } });
  try {
    console.log(`${PAGES} orders`);
    const references = await createOrders(stack);
    const paths = references.map((reference) => `/pay/${reference}`);
    const page = await (await fetch(`${stack.baseUrl}${paths[0]}`, { headers: { accept: 'text/html' } })).text();

    console.log('renders, of Fastify and of the gateway');
    const bareRenders = await withBareServer(page, (server) => renders(server, paths));
    const ownRenders = await renders({ url: stack.baseUrl, pid: stack.pidOf('gateway')! }, paths);

    console.log('open pages, of Fastify and of the gateway');
    const bareOpen = await withBareServer(page, ({ url, pid }) =>
      costOfOpenPages(eventUrls(url, paths), [pid], async () => () => fetch(`${url}/change`, { method: 'POST' })),
    );
    const pids = [stack.pidOf('gateway')!, stack.pidOf('postgres')!];
    const ownOpen = await costOfOpenPages(eventUrls(stack.baseUrl, paths), pids, () => prepareCancels(stack));
    return [...renderRows(ownRenders, bareRenders), ...openRows(ownOpen, bareOpen)];
  } finally {
    await stack.stop();
  }
};

const eventUrls = (baseUrl: string, paths: readonly string[]) => paths.map((path) => `${baseUrl}${path}/events`);

const createOrders = async ({ baseUrl, apiKey }: Stack): Promise<string[]> => {
  const pool = new Pool(baseUrl, { connections: CONNECTIONS, pipelining: 1 });
  const body = JSON.stringify(orderBody());
  const references: string[] = [];
  let left = PAGES;
  const creator = async () => {
    while (left > 0) {
      left -= 1;
      const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
      const { statusCode, body: answer } = await pool.request({ method: 'POST', path: '/v1/orders', headers, body });
      const order = (await answer.json()) as { payment_reference?: string };
      if (statusCode === 201) references.push(order.payment_reference!);
      else left += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, creator));
  await pool.close();
  return references;
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

interface Renders {
  readonly perSecond: number;
  readonly cpuMs: number;
}

const renders = async ({ url, pid }: Server, paths: readonly string[]): Promise<Renders> => {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  let n = 0;
  const render = async () => {
    n += 1;
    const path = paths[n % paths.length]!;
    const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { accept: 'text/html' } });
    await body.dump();
    if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}`);
  };
  await sustained({ at: CONNECTIONS, forMs: WARM_UP_MS }, render);
  const before = cpuSeconds([pid])!;
  const { perSecond, count } = await sustained({ at: CONNECTIONS, forMs: RENDER_MS }, render);
  const cpuMs = ((cpuSeconds([pid])! - before) * 1_000) / count;
  await pool.close();
  return { perSecond, cpuMs };
};

const renderRows = (own: Renders, bare: Renders): Row[] => [
  {
    measure: `page renders per second, ${CONNECTIONS} connections`,
    measured: `${Math.round(own.perSecond)}/s`,
    baseline: { text: `bare Fastify ${Math.round(bare.perSecond)}/s`, ratio: own.perSecond / bare.perSecond },
  },
  {
    measure: 'CPU of the gateway per render',
    measured: ms(own.cpuMs),
    baseline: { text: `bare Fastify ${ms(bare.cpuMs)}`, ratio: own.cpuMs / bare.cpuMs },
  },
];

const openRows = (own: OpenPagesCost, bare: OpenPagesCost): Row[] => {
  const pages = `${PAGES.toLocaleString('en')} open pages`;
  const kib = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
  const against = (value: number, baseline: number, format: (value: number) => string) => ({
    measured: format(value),
    baseline: { text: `bare Fastify ${format(baseline)}`, ratio: value / baseline },
  });
  return [
    { measure: `${pages}: memory of the gateway per page`, ...against(own.bytesPerPage, bare.bytesPerPage, kib) },
    { measure: `${pages}: CPU of the gateway per second, idle`, measured: ms(own.idleCpuMs[0]!) },
    { measure: `${pages}: CPU of PostgreSQL per second, idle`, measured: ms(own.idleCpuMs[1]!) },
    { measure: `${pages}: all told of a change`, ...against(own.toldMs, bare.toldMs, ms) },
    { measure: `${pages}: CPU of the gateway for that`, ...against(own.toldCpuMs[0]!, bare.toldCpuMs[0]!, ms) },
    { measure: `${pages}: CPU of PostgreSQL for that`, measured: ms(own.toldCpuMs[1]!) },
  ];
};
