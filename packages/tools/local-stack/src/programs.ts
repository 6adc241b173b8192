import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type PostgresOptions, startPostgres } from '@cpg/embedded-postgres';
import { chainProgram } from './chain/chain-program.ts';
import { LaunchError } from './config.ts';
import type { Secrets } from './data/secrets.ts';
import { embeddedDatabaseUrl, withOwnSecrets } from './environment.ts';
import type { PortPlan } from './ports.ts';
import { dataDirArgument, postgresFolder } from './processes/leftover-processes.ts';
import type { Program } from './processes/supervisor.ts';

export interface ProgramsOptions {
  /** One entry per process to run. */
  readonly ports: readonly PortPlan[];
  readonly secrets: Secrets;
  readonly dataDir: string;
  /** Path of anvil, if the plan has a chain. */
  readonly anvil: string | null;
  /** An external PostgreSQL. The embedded engines store their data in it too, each in its own schema. */
  readonly databaseUrl: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Show all log lines of PostgreSQL, not only warnings. */
  readonly showAll: boolean;
  readonly onLine: (name: string, line: string) => void;
  /** Shows a problem that the user must solve. */
  readonly warn: (sentence: string) => void;
}

/** The programs to run: those that start first, because the others need them from the beginning, and all others. */
export const createPrograms = ({
  ports,
  secrets,
  dataDir,
  anvil,
  databaseUrl,
  env,
  showAll,
  onLine,
  warn,
}: ProgramsOptions) => {
  const planOf = (name: string) => ports.find(({ process }) => process === name);
  const [engine, chain] = [planOf('postgres'), planOf('chain')];
  // A small young generation has short collections. With more processes than cores, helper threads
  // of the collector compete for cores: a collection takes 12 ms instead of 2 ms.
  const flags = ['--max-semi-space-size=8', ...(availableParallelism() < ports.length ? ['--single-threaded-gc'] : [])];
  const databaseOf = (name: string) => databaseUrl ?? embeddedDatabaseUrl(ports, secrets, name);
  const isBehindProxy = (name: string) => ports.some(({ instances }) => instances?.includes(name));
  const programOf = ({ process: name, host, port, via }: PortPlan): Program => {
    const service = name.replace(/-\d+$/, '');
    const own = withOwnSecrets(service, env);
    const node = (module: string, more: NodeJS.ProcessEnv) =>
      nodeProgram({ name, module, flags, env: { ...own, ...more }, dataDir, onLine: (line) => onLine(name, line) });
    const PORT = String(port);
    if (name === 'eventstore') {
      return node('@cpg/embedded-eventstore/main.js', {
        EVENTSTORE_DATABASE_URL: databaseOf(name),
        EVENTSTORE_PORT: PORT,
        EVENTSTORE_ADVERTISED_PORT: String(via),
      });
    }
    if (name === 'kafka') {
      return node('@cpg/embedded-kafka/main.js', {
        KAFKA_DATABASE_URL: databaseOf(name),
        KAFKA_PORT: PORT,
        KAFKA_ADVERTISED_PORT: String(via),
      });
    }
    const trusted = isBehindProxy(name) && { TRUST_PROXY: trustOneMore(env.TRUST_PROXY) };
    return node(`@cpg/${service}/main.js`, { PORT, HOST: host, ...trusted });
  };
  const postgres =
    engine &&
    postgresProgram({
      port: engine.port,
      password: secrets.POSTGRES_PASSWORD,
      dataDir: postgresFolder(dataDir),
      onDiskFault: warn,
      onSlowStart: warn,
      onLog: (line) => {
        if (showAll || isWorthShowing(line)) onLine('postgres', line);
      },
    });
  const first = [
    ...(postgres ? [postgres] : []),
    // Payments refuses a token that its chain does not have.
    ...(chain
      ? [chainProgram({ file: anvil!, port: chain.port, dataDir, warn, onLine: (line) => onLine('chain', line) })]
      : []),
  ];
  return { first, others: ports.filter((plan) => plan !== engine && plan !== chain && !plan.instances).map(programOf) };
};

/** The value of TRUST_PROXY for a gateway behind one more proxy, which adds the address of the client. */
const trustOneMore = (value = ''): string => {
  if (/^\d$/.test(value)) return String(Number(value) + 1);
  if (value === 'true') return value;
  return value === '' || value === 'false' ? '1' : `${value},127.0.0.1`;
};

interface NodeProgram {
  readonly name: string;
  /** Entry point, for example `@cpg/orders/main.js`. */
  readonly module: string;
  /** Command line options of Node.js. */
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  readonly onLine: (line: string) => void;
}

// `detached` starts each process in its own session, so that Ctrl-C reaches only the launcher.
const nodeProgram = ({ name, module, flags, env, dataDir, onLine }: NodeProgram): Program => ({
  name,
  launch: async (onSpawn) => {
    const main = fileURLToPath(import.meta.resolve(module));
    const child = spawn(process.execPath, [...flags, main, dataDirArgument(dataDir)], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine);
    onSpawn(child);
  },
});

const postgresProgram = (options: PostgresOptions): Program => ({
  name: 'postgres',
  launch: async (onSpawn) => {
    const server = await startPostgres({ ...options, onSpawn }).catch((cause: Error) => {
      throw new LaunchError(cause.message, { cause });
    });
    for (const name of ['app', 'eventstore', 'kafka']) await server.createDatabase(name);
  },
});

// The client of a session logs its ERROR and FATAL messages itself.
const isWorthShowing = (line: string): boolean => /\b(WARNING|PANIC): /.test(line);
