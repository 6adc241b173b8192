import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LaunchError } from '../launch-error.ts';
import { stopLeftoverProcesses } from '../processes/leftover-processes.ts';
import { lockDataFolder } from './lock.ts';
import { explainWriteErrors, writeAtomically } from './write-file.ts';

// Versions before 0.2.0 wrote format 1.
const FORMAT = '2';
const FORMAT_FILE = 'format';

/** Creates the data folder if it does not exist, and returns its real path. Throws LaunchError when the folder cannot
 *  be written, has another format version, or contains other files. */
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

/** Deletes everything in the data folder. Throws LaunchError while a stack uses it, and when it contains other
 *  files. */
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
    entries.filter((entry) => entry !== FORMAT_FILE).forEach(remove);
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
