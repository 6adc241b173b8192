import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LaunchError } from '../launch-error.ts';
import { startedAt } from '../processes/process-table.ts';
import { inDataFolder } from './write.ts';

const LOCK_FILE = 'launcher.pid';

/** Takes the data folder for this process until the returned function is called. A lock of a process that is gone counts for
 *  nothing. Throws LaunchError when another one has it. */
export const lockFolder = (folder: string): (() => void) => {
  const file = join(folder, LOCK_FILE);
  const mine = `${process.pid} ${startedAt(process.pid)}`;
  inDataFolder(folder, () => {
    const holder = holderOf(file);
    if (holder) {
      throw new LaunchError(
        `a stack runs on ${folder} already (process ${holder}): stop it first, or set DATA_DIR and PORT_OFFSET for another one`,
      );
    }
    rmSync(file, { force: true });
    writeFileSync(file, mine, { flag: 'wx' });
  });
  return () => {
    if (existsSync(file) && readFileSync(file, 'utf8') === mine) rmSync(file, { force: true });
  };
};

const holderOf = (file: string): number | null => {
  if (!existsSync(file)) return null;
  const [pid, began] = readFileSync(file, 'utf8').split(/ (.*)/s);
  return startedAt(Number(pid)) === began ? Number(pid) : null;
};
