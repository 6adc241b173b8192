import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { freePort } from '@cpg/ports';
import { until } from '../../harness/until.ts';

/** One process of a shop, which a test may kill and start again on the same port and data. */
export interface ShopProcess {
  readonly baseUrl: string;
  /** The last lines of its output. */
  readonly log: string[];
  /** SIGKILL. Resolves once the process has ended. */
  readonly kill: () => Promise<void>;
  /** After `kill` or `stop`: starts it again, and waits until it answers. */
  readonly start: () => Promise<void>;
  /** SIGTERM. Resolves once the process has ended. */
  readonly stop: () => Promise<void>;
}

export interface ShopProgram {
  readonly folder: string;
  /** The arguments of Node.js. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

const LOG_LINES_KEPT = 300;

/** The environment of every program of a shop. */
export const shopEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_OPTIONS: '',
  NODE_ENV: 'production',
  MEDUSA_DISABLE_TELEMETRY: '1',
  VENDURE_DISABLE_TELEMETRY: 'true',
});

/** Starts a shop on a free port. Throws with the end of its log if it ends before it answers. */
export const startShopProcess = async ({ folder, args, env }: ShopProgram): Promise<ShopProcess> => {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const log: string[] = [];
  let child: ChildProcess | null = null;
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null;
  const killAtExit = () => void child?.kill('SIGKILL');
  process.once('exit', killAtExit);

  const start = async () => {
    child = spawn(process.execPath, args, {
      cwd: folder,
      // Another process of the same shop has its address in `env`.
      env: { ...shopEnvironment(), SHOP_URL: baseUrl, ...env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => {
        if (process.env.ACCEPTANCE_LOG) process.stderr.write(`${line}\n`);
        log.push(line);
        if (log.length > LOG_LINES_KEPT) log.shift();
      });
    }
    await until(`the shop at ${baseUrl} to answer`, async () => {
      if (!isRunning()) return true; // the error follows
      return (await fetch(`${baseUrl}/health`)).ok;
    });
    if (!isRunning()) throw new Error(`the shop ended before it answered:\n${log.join('\n')}`);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!isRunning()) return;
    const ended = once(child!, 'exit');
    child!.kill(signal);
    await ended;
  };
  await start();
  return { baseUrl, log, start, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
};
