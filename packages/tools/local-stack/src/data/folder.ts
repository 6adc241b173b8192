import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LaunchError } from '../config.ts';
import { stopLeftoverProcesses } from '../processes/leftover-processes.ts';
import { startedAt } from '../processes/process-table.ts';
import { explainWriteErrors, writeAtomically } from './write-file.ts';

// Versions before 0.2.0 wrote format 1.
const FORMAT = '2';
const FORMAT_FILE = 'format';

/** Creates the data folder if it does not exist, and returns its real path. Throws LaunchError when the folder cannot
 *  be written, has another format version, or is neither empty nor a data folder. */
export const openDataFolder = (path: string): string =>
  explainWriteErrors(path, () => {
    createFolder(path);
    const folder = realpathSync(path);
    const format = formatOf(folder);
    if (format === null && readdirSync(folder).length > 0) {
      throw new LaunchError(
        `${folder} is not empty and is not a data folder of this program: set DATA_DIR to another folder`,
      );
    }
    if (format === null) writeAtomically(join(folder, FORMAT_FILE), `${FORMAT}\n`);
    else if (format !== FORMAT) {
      throw new LaunchError(
        `${folder} has data format ${format}${format === '1' ? ', of a version before 0.2.0' : ''}, but this version needs format ${FORMAT}: set DATA_DIR to another folder, or delete the data with "npm run reset"`,
      );
    }
    return folder;
  });

/** Deletes everything in the data folder. Throws LaunchError while a stack uses it, and when it is no data folder. */
export const emptyDataFolder = async (path: string): Promise<void> => {
  if (!existsSync(path)) return;
  const folder = realpathSync(path);
  const entries = explainWriteErrors(folder, () => readdirSync(folder));
  if (entries.length === 0) return;
  if (formatOf(folder) === null)
    throw new LaunchError(`${folder} is not a data folder of this program: nothing was deleted`);
  const unlock = lockDataFolder(folder);
  await stopLeftoverProcesses(folder);
  const remove = (entry: string) => rmSync(join(folder, entry), { recursive: true, force: true });
  explainWriteErrors(folder, () => {
    // The format file goes last, so that an interrupted deletion leaves a folder that can be deleted again.
    entries.filter((entry) => entry !== FORMAT_FILE && entry !== LOCK_FILE).forEach(remove);
    unlock();
    remove(FORMAT_FILE);
  });
};

// The option `recursive` of mkdirSync never returns where no folder can be created, for example in /proc.
const createFolder = (path: string): void => {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  mkdirSync(path);
};

const formatOf = (folder: string): string | null => {
  const file = join(folder, FORMAT_FILE);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
};

const LOCK_FILE = 'launcher.lock';
/** The process id alone, for people and scripts: `kill "$(cat .data/launcher.pid)"`. Nothing reads it here. */
const PID_FILE = 'launcher.pid';

/** Locks the data folder for this process until the returned function is called. Ignores the lock of a process that has
 *  ended. Throws LaunchError when another process holds the lock. */
export const lockDataFolder = (folder: string): (() => void) => {
  const file = join(folder, LOCK_FILE);
  const content = `${process.pid} ${startedAt(process.pid)}`;
  explainWriteErrors(folder, () => {
    const holder = holderOf(file);
    if (holder) {
      throw new LaunchError(
        `another stack is using ${folder} (process ${holder}): stop it first, or set DATA_DIR and PORT_OFFSET to run a second stack`,
      );
    }
    rmSync(file, { force: true });
    writeFileSync(file, content, { flag: 'wx' });
    writeAtomically(join(folder, PID_FILE), `${process.pid}\n`);
  });
  return () => {
    if (!existsSync(file) || readFileSync(file, 'utf8') !== content) return;
    rmSync(join(folder, PID_FILE), { force: true });
    rmSync(file);
  };
};

const holderOf = (file: string): number | null => {
  if (!existsSync(file)) return null;
  // The start time may contain spaces.
  const [pid, processStart] = readFileSync(file, 'utf8').split(/ (.*)/s);
  return startedAt(Number(pid)) === processStart ? Number(pid) : null;
};
