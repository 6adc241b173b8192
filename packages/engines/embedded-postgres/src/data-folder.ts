import { execFile } from 'node:child_process';
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { diskFault, SEVERE_LINE } from './readiness.ts';
import { asAccount, unprivilegedAccount } from './unprivileged.ts';

/** The superuser of the cluster. */
export const SUPERUSER = 'postgres';

/** Initialises `folder` as a PostgreSQL cluster unless it is one. Never deletes anything but its own unfinished work,
 *  in `<folder>.new`.
 *  Throws for a cluster of another PostgreSQL version, for a folder with other content, and for a failed
 *  initialisation; the message says what to do. */
export const prepareDataFolder = async (folder: string, initdb: string, password: string): Promise<void> => {
  const target = realPathOf(folder);
  const versionFile = join(target, 'PG_VERSION');
  if (existsSync(versionFile)) return checkVersion(folder, readFileSync(versionFile, 'utf8').trim(), initdb);
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new Error(
      `${folder} has files, but no PG_VERSION: it is a damaged PostgreSQL data folder, or none. Nothing was deleted. ` +
        'Restore it from a backup, or set DATA_DIR to another folder, or delete all local data with "npm run reset".',
    );
  }
  await initialise(target, initdb, password);
};

// A missing folder whose link exists is a disk that is not mounted, for instance.
const realPathOf = (folder: string): string => {
  if (existsSync(folder)) return realpathSync(folder);
  if (lstatSync(folder, { throwIfNoEntry: false })) {
    throw new Error(`${folder} is a link to a folder that does not exist: create that folder, or remove the link.`);
  }
  return folder;
};

const checkVersion = async (folder: string, dataVersion: string, initdb: string): Promise<void> => {
  const { stdout } = await promisify(execFile)(initdb, ['--version']);
  const version = /(\d+)/.exec(stdout)?.[1];
  if (dataVersion === version) return;
  throw new Error(
    `${folder} was written by PostgreSQL ${dataVersion}, this is PostgreSQL ${version}. ` +
      'Set DATA_DIR to another folder, or empty this one with "npm run reset".',
  );
};

/** Works in a folder beside `folder` and renames at the end, because initdb may be killed after it wrote PG_VERSION. */
const initialise = async (folder: string, initdb: string, password: string): Promise<void> => {
  const account = unprivilegedAccount();
  const unfinished = `${folder}.new`;
  const cluster = join(unfinished, 'cluster');
  const passwordFile = join(unfinished, 'password');
  removeUnfinished(unfinished);
  mkdirSync(cluster, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  try {
    if (account) for (const path of [unfinished, cluster, passwordFile]) chownSync(path, account.uid, account.gid);
    const args = [
      `--pgdata=${cluster}`,
      '--auth=scram-sha-256',
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
    ];
    // The account must be able to reach the cluster and the password file.
    // The account must reach both paths.
    const run = asAccount(account, initdb, args, [cluster, passwordFile]);
    await promisify(execFile)(run.file, run.args, run.options);
    renameSync(cluster, folder);
    syncFolder(dirname(folder));
  } catch (error) {
    throw initialisationError(error as Error, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
};

const OWN_ENTRIES = /^(cluster|password)$/;
// Entries that initdb makes. A cluster that was ever started also has postmaster.opts.
const INITDB_ENTRIES = /^(PG_VERSION|base|global|pg_\w+(\.conf)?|postgresql(\.auto)?\.conf)$/;

/** Removes the folder of a killed initialisation. Throws if the folder has anything else. */
const removeUnfinished = (folder: string): void => {
  if (!existsSync(folder)) return;
  const cluster = join(folder, 'cluster');
  const inCluster = existsSync(cluster) ? readdirSync(cluster) : [];
  const foreign =
    readdirSync(folder).find((name) => !OWN_ENTRIES.test(name)) ?? inCluster.find((name) => !INITDB_ENTRIES.test(name));
  if (foreign !== undefined) {
    throw new Error(
      `PostgreSQL is initialised in ${folder}, but that folder has "${foreign}", which no initialisation left there. ` +
        'Nothing was deleted. Move that folder away, or set DATA_DIR to another folder.',
    );
  }
  rmSync(folder, { recursive: true });
};

// Without this, the folder may be gone after a power failure, with commits that were acknowledged.
const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

const initialisationError = (cause: Error & { stderr?: string }, folder: string): Error => {
  const lines = cause.stderr?.trim().split('\n') ?? [cause.message];
  const fault = diskFault(lines.join('\n'), folder);
  if (fault) return new Error(`PostgreSQL could not be initialised: ${fault}`, { cause });
  const reason = lines.find((line) => SEVERE_LINE.test(line) || line.includes('error: ')) ?? lines.at(-1);
  return new Error(`PostgreSQL could not be initialised in ${folder}: ${reason}`, { cause });
};
