import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { orderBody } from '../harness/order-bodies.ts';
import type { Stack } from '../harness/stack.ts';
import { cpuSeconds } from './cpu.ts';
import { creator } from './orders.ts';
import { oneByOne, sustained, type Throughput, type Timings } from './timings.ts';

export interface Baseline {
  readonly single: Timings;
  readonly many: Throughput;
  /** CPU milliseconds of the server per request or insert under load. Null on a system without /proc. */
  readonly cpuMs: number | null;
}

const BARE_FASTIFY = fileURLToPath(new URL('./bare-fastify.js', import.meta.url));
const SINGLES = 300;
const WARM_UP = 200;
const MANY_FOR_MS = 3_000;

/** Posts the same order to Fastify with the same zod schema and nothing else. */
export const bareFastify = async (connections: number): Promise<Baseline> => {
  const server = spawn(process.execPath, [BARE_FASTIFY], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const orders = creator({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'none', connections });
    const single = await oneByOne(SINGLES, orders.create, WARM_UP);
    const loaded = await withCpu(server.pid!, () => sustained({ at: connections, forMs: MANY_FOR_MS }, orders.create));
    await orders.close();
    return { single, ...loaded };
  } finally {
    server.kill();
  }
};

/** Inserts a row of the size of an order into the stack's PostgreSQL with `pg`, with a durable commit. */
export const durableInsert = async (
  { databaseUrl, pidOf }: Pick<Stack, 'databaseUrl' | 'pidOf'>,
  connections: number,
): Promise<Baseline> => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections });
  const body = JSON.stringify(orderBody());
  const insert = () => pool.query('insert into bench.inserts (body) values ($1)', [body]);
  try {
    await pool.query('create schema bench');
    await pool.query('create table bench.inserts (id bigserial primary key, body jsonb not null)');
    const single = await oneByOne(SINGLES, insert, WARM_UP);
    const loaded = await withCpu(pidOf('postgres')!, () => sustained({ at: connections, forMs: MANY_FOR_MS }, insert));
    return { single, ...loaded };
  } finally {
    await pool.query('drop schema if exists bench cascade');
    await pool.end();
  }
};

const withCpu = async (pid: number, load: () => Promise<Throughput>): Promise<Pick<Baseline, 'many' | 'cpuMs'>> => {
  const before = cpuSeconds([pid]);
  const many = await load();
  const after = cpuSeconds([pid]);
  return { many, cpuMs: before === null || after === null ? null : ((after - before) * 1_000) / many.count };
};
