import { type ChildProcess, fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '@cpg/embedded-postgres';
import { freePort } from '@cpg/ports';
import pg from 'pg';
import type { JestResult, JestRun } from './jest-process.ts';

export type RunOutcome = JestResult | 'timeout' | 'crash';

const MAX_MEMORY = 700 * 2 ** 20;

/** Runs Jest in one copy of the checkout, run after run in one process, which starts anew when it has grown. */
export class JestRunner {
  private process: ChildProcess | undefined;
  private postgres: Awaited<ReturnType<typeof startPostgres>> | undefined;
  private readonly copy: string;

  constructor(copy: string) {
    this.copy = copy;
  }

  async run(run: JestRun, timeoutMs: number): Promise<RunOutcome> {
    if (run.project === 'integration') await this.startPostgres();
    this.process ??= this.start();
    const outcome = await this.answer(this.process, run, timeoutMs);
    if (typeof outcome === 'string' || outcome.memory > MAX_MEMORY) this.kill();
    if (run.project === 'integration') await this.dropDatabases();
    return outcome;
  }

  async close(): Promise<void> {
    this.kill();
    await this.postgres?.stop();
    rmSync(join(this.copy, '..', 'postgres'), { recursive: true, force: true });
  }

  /** Ends the process with all that its tests started. */
  private kill(): void {
    const pid = this.process?.pid;
    this.process = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }

  private start(): ChildProcess {
    const child = fork(new URL('jest-process.js', import.meta.url), {
      cwd: this.copy,
      detached: true,
      execArgv: ['--max-semi-space-size=32', '--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      env: {
        ...process.env,
        NODE_ENV: 'test',
        ...(this.postgres ? { POSTGRES_URL: this.postgres.url('postgres') } : {}),
        MUTATION_HITS: join(this.copy, '..', 'hits'),
      },
      stdio: ['ignore', 'ignore', process.env.MUTATION_DEBUG ? 'inherit' : 'ignore', 'ipc'],
    });
    child.once('exit', () => {
      if (this.process === child) this.process = undefined;
    });
    return child;
  }

  private answer(child: ChildProcess, run: JestRun, timeoutMs: number): Promise<RunOutcome> {
    return new Promise((resolve) => {
      const done = (outcome: RunOutcome) => {
        clearTimeout(timer);
        child.off('message', answered).off('exit', crashed);
        resolve(outcome);
      };
      const answered = (result: unknown) => done(result as JestResult);
      const crashed = (code: number | null, signal: string | null) => {
        if (process.env.MUTATION_DEBUG) console.error(`Jest ended by ${signal ?? code} in ${run.tests.join(' ')}`);
        done('crash');
      };
      const timer = setTimeout(() => done('timeout'), timeoutMs);
      child.on('message', answered).on('exit', crashed);
      child.send(run);
    });
  }

  private async startPostgres(): Promise<void> {
    if (this.postgres) return;
    this.postgres = await startPostgres({
      dataDir: join(this.copy, '..', 'postgres'),
      port: await freePort(),
      password: 'test',
    });
    await this.inPostgres('alter system set fsync = off', 'select pg_reload_conf()');
    this.kill();
  }

  /** Tests that fail leave their databases. */
  private async dropDatabases(): Promise<void> {
    const names = await this.inPostgres(
      `select datname as name from pg_database where datname <> 'postgres' and not datistemplate`,
    );
    for (const { name } of names) await this.inPostgres(`drop database "${name}" with (force)`);
  }

  private async inPostgres(...statements: string[]): Promise<{ name: string }[]> {
    const client = new pg.Client(this.postgres!.url('postgres'));
    await client.connect();
    try {
      let rows: { name: string }[] = [];
      for (const statement of statements) ({ rows } = await client.query<{ name: string }>(statement));
      return rows;
    } finally {
      await client.end();
    }
  }
}
