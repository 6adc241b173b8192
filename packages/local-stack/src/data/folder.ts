import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LaunchError } from '../launch-error.ts';
import { endLeftovers } from '../processes/leftovers.ts';
import { lockFolder } from './lock.ts';
import { inDataFolder, writeWhole } from './write.ts';

const FORMAT = '1';
const FORMAT_FILE = 'format';

/** Makes the data folder unless it is there, and returns its real path. Throws LaunchError for one that cannot be written, one that
 *  another version wrote, and one that holds something else. */
export const openDataFolder = (path: string): string =>
  inDataFolder(path, () => {
    makeFolder(path);
    const folder = realpathSync(path);
    const format = formatOf(folder);
    if (format === null && readdirSync(folder).length > 0) {
      throw new LaunchError(`${folder} is not empty and no data folder of ours: set DATA_DIR to another`);
    }
    if (format === null) writeWhole(join(folder, FORMAT_FILE), `${FORMAT}\n`);
    else if (format !== FORMAT) {
      throw new LaunchError(
        `${folder} has data format ${format}, this version has ${FORMAT}: set DATA_DIR to another folder, or empty this one with "npm run reset"`,
      );
    }
    return folder;
  });

/** Removes all that is in the data folder. Throws LaunchError while a stack runs on it, and for a folder that holds something else. */
export const emptyDataFolder = async (path: string): Promise<void> => {
  if (!existsSync(path)) return;
  const folder = realpathSync(path);
  const entries = inDataFolder(folder, () => readdirSync(folder));
  if (entries.length === 0) return;
  if (formatOf(folder) === null) throw new LaunchError(`${folder} is no data folder of ours: nothing was removed`);
  const unlock = lockFolder(folder);
  await endLeftovers(folder);
  const remove = (entry: string) => rmSync(join(folder, entry), { recursive: true, force: true });
  inDataFolder(folder, () => {
    // The mark goes last: what an interrupted removal leaves is still known as ours.
    entries.filter((entry) => entry !== FORMAT_FILE).forEach(remove);
    unlock();
    remove(FORMAT_FILE);
  });
};

// Not by `recursive`, which tries for ever where a folder cannot be made although the one above is there: /proc.
const makeFolder = (path: string): void => {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
};

const formatOf = (folder: string): string | null => {
  const file = join(folder, FORMAT_FILE);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
};
