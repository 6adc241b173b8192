import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { diskFault } from './disk-fault.ts';
import { SEVERE_LINE } from './log-lines.ts';
import { asAccount, unprivilegedAccount } from './unprivileged.ts';

/** The superuser of the cluster. */
export const SUPERUSER = 'postgres';

/** Initialises `folder` as a PostgreSQL cluster unless it is one.
 *  Throws for a cluster of another PostgreSQL version and for a failed initialisation; the message says what to do. */
export const prepareDataFolder = async (folder: string, initdb: string, password: string): Promise<void> => {
  const versionFile = join(folder, 'PG_VERSION');
  if (existsSync(versionFile)) await checkVersion(folder, readFileSync(versionFile, 'utf8').trim(), initdb);
  else await initialise(folder, initdb, password);
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

/** Works in a temporary folder that is renamed at the end, because initdb may be killed after it wrote PG_VERSION. */
const initialise = async (folder: string, initdb: string, password: string): Promise<void> => {
  const account = unprivilegedAccount();
  const unfinished = `${folder}.new`;
  for (const leftover of [folder, unfinished]) rmSync(leftover, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  const passwordFile = join(dirname(folder), `.pgpass-${randomBytes(6).toString('hex')}`);
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  try {
    if (account) for (const path of [unfinished, passwordFile]) chownSync(path, account.uid, account.gid);
    const args = [
      `--pgdata=${unfinished}`,
      '--auth=scram-sha-256',
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
    ];
    const run = asAccount(account, initdb, args, [unfinished, passwordFile]);
    await promisify(execFile)(run.file, run.args, run.options);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw initialisationError(error as Error, folder);
  } finally {
    rmSync(passwordFile, { force: true });
  }
};

const initialisationError = (cause: Error & { stderr?: string }, folder: string): Error => {
  const lines = cause.stderr?.trim().split('\n') ?? [cause.message];
  const fault = diskFault(lines.join('\n'), folder);
  if (fault) return new Error(`PostgreSQL could not be initialised: ${fault}`, { cause });
  const reason = lines.find((line) => SEVERE_LINE.test(line) || line.includes('error: ')) ?? lines.at(-1);
  return new Error(`PostgreSQL could not be initialised in ${folder}: ${reason}`, { cause });
};
