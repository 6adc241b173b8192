import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Stack } from './stack.ts';

/** The databases of the embedded engines, each with the processes that use it. */
const USERS = {
  eventstore: ['eventstore'],
  kafka: ['kafka'],
  app: ['gateway', 'orders', 'payments', 'webhook-dispatcher-1'],
} as const;

export type Engine = keyof typeof USERS;

/** Backups of single engines of a running stack. The processes of the engine are killed for each of them. */
export const engineBackups = (stack: Stack) => {
  const backupOf = (engine: Engine) => `${engine}_backup`;
  /** Runs statements while no process is connected to the engine's database. */
  const exchange = async (engine: Engine, statements: readonly string[]) => {
    const url = new URL(stack.databaseUrl);
    url.pathname = '/postgres';
    const client = new Client({ connectionString: url.toString() });
    await client.connect();
    const pids = USERS[engine].map((name) => ({ name, pid: stack.pidOf(name) }));
    // A stopped process cannot connect again in between.
    for (const { pid } of pids) if (pid !== null) process.kill(pid, 'SIGSTOP');
    try {
      await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${engine}'`);
      while ((await client.query(`select from pg_stat_activity where datname = '${engine}'`)).rowCount) await sleep(20);
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
      for (const { name, pid } of pids) if (pid !== null && stack.pidOf(name) === pid) await stack.kill(name);
    }
  };
  return {
    take: (engine: Engine) =>
      exchange(engine, [
        `drop database if exists ${backupOf(engine)}`,
        `create database ${backupOf(engine)} template ${engine}`,
      ]),
    restore: (engine: Engine) =>
      exchange(engine, [
        `drop database ${engine} with (force)`,
        `create database ${engine} template ${backupOf(engine)}`,
      ]),
    /** Puts an engine without data in the place. */
    empty: (engine: Engine) => exchange(engine, [`drop database ${engine} with (force)`, `create database ${engine}`]),
  };
};
