import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { reservePorts, STANDARD_PORTS } from './ports.ts';
import { processesOf, readStackFiles, type StackFiles } from './stack-files.ts';
import { until } from './until.ts';

export interface StackOptions {
  /** Overrides the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly dispatchers?: number;
  /** Numbers of instances, for example `orders=2,payments=2`. */
  readonly scale?: string | undefined;
  /** Services connect to PostgreSQL with roles of their own. */
  readonly databaseRoles?: boolean;
}

/** A stack that this process started: the launcher with all engines and services, as `npm start` runs them. */
export interface Stack extends StackFiles {
  /** Milliseconds from the start of the launcher to its ready message. */
  readonly readyAfterMs: number;
  /** The process id of the launcher, the parent of all others. */
  readonly launcherPid: number;
  /** The process id of `orders`, `webhook-dispatcher-1`, `postgres`, ...; null while it is not running. */
  readonly pidOf: (name: string) => number | null;
  /** The last lines of the launcher's log. A test may empty it. */
  readonly log: string[];
  /** Signals one process and resolves once the launcher has replaced it. Throws if it is not running. */
  readonly kill: (name: string, signal?: NodeJS.Signals) => Promise<void>;
  /** Sends SIGINT to the launcher, like Ctrl-C. Resolves with its exit code once all processes have ended. */
  readonly interrupt: () => Promise<number | null>;
  /** After `interrupt`: starts the stack again on the same data and ports. */
  readonly startAgain: () => Promise<Stack>;
  /** Stops all processes and removes the data. */
  readonly stop: () => Promise<void>;
}

const LAUNCHER = fileURLToPath(new URL('../../../local-stack/dist/main.js', import.meta.url));
const READY_WITHIN_MS = 90_000;
const STOPPED_WITHIN_MS = 20_000;
const LOG_LINES_KEPT = 200;
const API_KEY = 'ak_sandbox_acceptanceKeyForEveryTestOfThisStack0123456789';

/** Starts a stack with an empty temporary folder and free ports. Throws with the end of the launcher's log if it
 *  does not get ready. ACCEPTANCE_LOG=1 prints the whole log. */
export const startStack = async ({
  env = {},
  dispatchers,
  scale,
  databaseRoles = false,
}: StackOptions = {}): Promise<Stack> => {
  const { PORT_OFFSET: given } = env;
  const ports = given === undefined ? await reservePorts() : { offset: given, release: () => {} };
  const dataDir = mkdtempSync(join(tmpdir(), 'cpg-acceptance-'));
  const settings = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT_OFFSET: String(ports.offset),
    SANDBOX_API_KEY: API_KEY,
    CHAIN: 'off',
    DEMO_ORDER: 'off',
    RATE_LIMIT_PER_SECOND: '0',
    RATE_LIMIT_AUTH_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
    NODE_ENV: 'production',
    NODE_OPTIONS: '',
    ...(databaseRoles && roleVariables(Number(ports.offset))),
    ...env,
  };
  const args = [
    ...(dispatchers === undefined ? [] : ['--dispatchers', String(dispatchers)]),
    ...(scale === undefined ? [] : ['--scale', scale]),
  ];
  const launching = launch({ dataDir, releasePorts: ports.release, settings, args });
  if (!databaseRoles) return launching;
  const failed = new AbortController();
  launching.catch((error: unknown) => failed.abort(error));
  await prepareDatabase(dataDir, Number(ports.offset), failed.signal);
  return launching;
};

interface Launch {
  readonly dataDir: string;
  readonly releasePorts: () => void;
  readonly settings: NodeJS.ProcessEnv;
  /** Of the launcher. */
  readonly args: readonly string[];
}

const launch = async (options: Launch): Promise<Stack> => {
  const { dataDir, releasePorts, settings, args } = options;
  const began = performance.now();
  const launcher = spawn(process.execPath, [LAUNCHER, ...args], {
    env: settings,
    // In its own session, so that Ctrl-C in the terminal reaches it only through this process.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // If this process exits early, the launcher is killed, and its guard stops the other processes.
  const killAtExit = () => void launcher.kill('SIGKILL');
  process.once('exit', killAtExit);
  const ended = new Promise<void>((done) => launcher.once('exit', () => done()));
  void ended.then(() => process.off('exit', killAtExit));
  const remove = () => {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
    releasePorts();
  };

  const log: string[] = [];
  try {
    await waitUntilReady(launcher, log);
  } catch (error) {
    await end(launcher, ended);
    remove();
    throw error;
  }
  const pidOf = (name: string) => processesOf(dataDir)[name] ?? null;
  return {
    ...readStackFiles(dataDir),
    readyAfterMs: performance.now() - began,
    launcherPid: launcher.pid!,
    log,
    pidOf,
    kill: async (name, signal = 'SIGKILL') => {
      const pid = pidOf(name);
      if (pid === null) throw new Error(`${name} is not running`);
      process.kill(pid, signal);
      await until(`${name} to be restarted`, () => ![null, pid].includes(pidOf(name)));
    },
    interrupt: async () => {
      await end(launcher, ended);
      return launcher.exitCode;
    },
    startAgain: () => launch(options),
    stop: async () => {
      await end(launcher, ended);
      remove();
    },
  };
};

const waitUntilReady = (launcher: ChildProcess, lines: string[]): Promise<void> =>
  new Promise((done, fail) => {
    const failWith = (reason: string) => fail(new Error(`the stack ${reason}:\n${lines.join('\n')}`));
    const timer = setTimeout(() => failWith(`was not ready within ${READY_WITHIN_MS} ms`), READY_WITHIN_MS);
    launcher.once('exit', (code, signal) => failWith(`ended (${signal ?? code}) before it was ready`));
    for (const stream of [launcher.stdout!, launcher.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => {
        if (process.env.ACCEPTANCE_LOG) process.stderr.write(`${line}\n`);
        lines.push(line);
        if (lines.length > LOG_LINES_KEPT) lines.shift();
        if (!/\bReady in [\d.]+ s\b/.test(line)) return;
        clearTimeout(timer);
        done();
      });
    }
  });

const end = async (launcher: ChildProcess, ended: Promise<void>): Promise<void> => {
  if (launcher.exitCode !== null || launcher.signalCode !== null) return;
  launcher.kill('SIGINT');
  const force = setTimeout(() => launcher.kill('SIGKILL'), STOPPED_WITHIN_MS);
  await ended;
  clearTimeout(force);
};

const PASSWORD = 'password-of-each-role';

/** The database role of each service. */
const ROLES = {
  gateway: 'cpg_gateway',
  orders: 'cpg_orders',
  payments: 'cpg_payments',
  'webhook-dispatcher': 'cpg_webhook_dispatcher',
} as const;

/** The variables that give each service of a stack its role. */
const roleVariables = (portOffset: number): Record<string, string> =>
  Object.fromEntries(
    Object.entries(ROLES).map(([service, role]) => [
      `${service.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`,
      databaseAs(role, PASSWORD, portOffset),
    ]),
  );

const databaseAs = (user: string, password: string, portOffset: number) =>
  `postgres://${user}:${password}@127.0.0.1:${STANDARD_PORTS.postgres + portOffset}/app`;

/** Does what an operator does once: creates the roles, and runs "admin migrate". The services of the stack wait for
 *  it. */
const prepareDatabase = async (dataDir: string, portOffset: number, signal: AbortSignal): Promise<void> => {
  const ownerUrl = () => {
    const { POSTGRES_PASSWORD } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as {
      POSTGRES_PASSWORD: string;
    };
    return databaseAs('postgres', POSTGRES_PASSWORD, portOffset);
  };
  for (;;) {
    signal.throwIfAborted();
    const owner = await Promise.resolve()
      .then(ownerUrl)
      .then(connect)
      .catch(() => null);
    if (owner) {
      const roles = Object.values(ROLES).map((role) => `create role ${role} login password '${PASSWORD}'`);
      await owner.query(roles.join('; ')).finally(() => owner.end());
      break;
    }
    await sleep(50);
  }
  for (const service of Object.keys(ROLES)) await migrate(service, ownerUrl());
};

const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
};

const migrate = async (service: string, databaseUrl: string): Promise<void> => {
  const program = fileURLToPath(new URL(`../../../../../services/${service}/dist/migrate.js`, import.meta.url));
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, NODE_OPTIONS: '', ENVIRONMENT: 'sandbox', DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [[code], output] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  if (code !== 0) throw new Error(`the migration of ${service} ended with code ${String(code)}: ${output}`);
};
