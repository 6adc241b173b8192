import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type PostgresOptions, startPostgres } from '@cpg/embedded-postgres';
import type { Secrets } from './data/secrets.ts';
import { ownDatabase } from './environment.ts';
import { LaunchError } from './launch-error.ts';
import type { PortPlan } from './ports.ts';
import { markOf, postgresFolder } from './processes/leftovers.ts';
import type { Program } from './processes/supervisor.ts';

export interface ProgramsOptions {
  /** One for each process that is to run. */
  readonly ports: readonly PortPlan[];
  readonly secrets: Secrets;
  readonly dataDir: string;
  /** Of a PostgreSQL that is there already: what the engines store goes into it too, in schemas of their own. */
  readonly databaseUrl: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Show what PostgreSQL says in passing, too. */
  readonly showAll: boolean;
  readonly onLine: (name: string, line: string) => void;
  /** Something that the person in front of it has to see to. */
  readonly warn: (sentence: string) => void;
}

/** What runs: PostgreSQL, unless there is one already, and then everything else at once. */
export const programsOf = ({ ports, secrets, dataDir, databaseUrl, env, showAll, onLine, warn }: ProgramsOptions) => {
  const own = ports.find(({ process }) => process === 'postgres');
  // Where the programs are more than the cores, the helper threads of their garbage collectors keep the others from running: a collection of
  // 2 ms takes 12, and everyone waits for it.
  const flags = availableParallelism() < ports.length ? ['--single-threaded-gc'] : [];
  const databaseOf = (name: string) => databaseUrl ?? ownDatabase(ports, secrets, name);
  const programOf = ({ process: name, port, via }: PortPlan): Program => {
    const node = (module: string, more: NodeJS.ProcessEnv) =>
      nodeProgram({ name, module, flags, env: { ...env, ...more }, dataDir, onLine: (line) => onLine(name, line) });
    const PORT = String(port);
    if (name === 'eventstore') {
      return node('@cpg/embedded-eventstore/main.js', {
        EVENTSTORE_DATABASE_URL: databaseOf(name),
        EVENTSTORE_PORT: PORT,
      });
    }
    if (name === 'kafka') {
      return node('@cpg/embedded-kafka/main.js', {
        KAFKA_DATABASE_URL: databaseOf(name),
        KAFKA_PORT: PORT,
        KAFKA_ADVERTISED_PORT: String(via),
      });
    }
    return node(`@cpg/${name.replace(/-\d+$/, '')}/main.js`, { PORT });
  };
  const postgres =
    own &&
    postgresProgram({
      port: own.port,
      password: secrets.POSTGRES_PASSWORD,
      dataDir: postgresFolder(dataDir),
      onDiskFault: warn,
      onLog: (line) => {
        if (showAll || isWorthShowing(line)) onLine('postgres', line);
      },
    });
  return { postgres, others: ports.filter((plan) => plan !== own).map(programOf) };
};

interface NodeProgram {
  readonly name: string;
  /** Its entry point, as a package exports it: `@cpg/orders/main.js`. */
  readonly module: string;
  /** Of Node.js. */
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  readonly onLine: (line: string) => void;
}

// Each in a session of its own, so that Ctrl-C reaches the launcher alone.
const nodeProgram = ({ name, module, flags, env, dataDir, onLine }: NodeProgram): Program => ({
  name,
  launch: async (spawned) => {
    const main = fileURLToPath(import.meta.resolve(module));
    const child = spawn(process.execPath, [...flags, main, markOf(dataDir)], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine);
    spawned(child);
  },
});

const postgresProgram = (options: PostgresOptions): Program => ({
  name: 'postgres',
  launch: async (spawned) => {
    const server = await startPostgres({ ...options, onSpawn: spawned }).catch((cause: Error) => {
      throw new LaunchError(cause.message, { cause });
    });
    for (const name of ['app', 'eventstore', 'kafka']) await server.createDatabase(name);
  },
});

// ERROR and FATAL are told to the session concerned, which says so in a log of its own.
const isWorthShowing = (line: string): boolean => /\b(WARNING|PANIC): /.test(line);
