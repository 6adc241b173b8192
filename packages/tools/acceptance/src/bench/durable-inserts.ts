import pg from 'pg';
import { orderBody } from '../harness/order-bodies.ts';
import type { Stack } from '../harness/stack.ts';
import { oneByOne, sustained, type Throughput, type Timings } from './timings.ts';

export interface DurableInserts {
  readonly single: Timings;
  readonly many: Throughput;
}

const SINGLES = 300;
const WARM_UP = 200;
const MANY_FOR_MS = 3_000;

/** The baseline of order creates and of the engines: inserts a row of the size of an order into the stack's PostgreSQL
 *  with `pg`, with a durable commit. */
export const durableInserts = async (
  { databaseUrl }: Pick<Stack, 'databaseUrl'>,
  connections: number,
): Promise<DurableInserts> => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections });
  const body = JSON.stringify(orderBody());
  const insert = () => pool.query('insert into bench.inserts (body) values ($1)', [body]);
  try {
    await pool.query('create schema bench');
    await pool.query('create table bench.inserts (id bigserial primary key, body jsonb not null)');
    const single = await oneByOne(SINGLES, insert, WARM_UP);
    return { single, many: await sustained({ at: connections, forMs: MANY_FOR_MS }, insert) };
  } finally {
    await pool.query('drop schema if exists bench cascade');
    await pool.end();
  }
};
