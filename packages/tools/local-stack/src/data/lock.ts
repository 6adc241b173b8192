import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LaunchError } from '../launch-error.ts';
import { startedAt } from '../processes/process-table.ts';
import { explainWriteErrors } from './write-file.ts';

const LOCK_FILE = 'launcher.pid';

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
  });
  return () => {
    if (existsSync(file) && readFileSync(file, 'utf8') === content) rmSync(file, { force: true });
  };
};

const holderOf = (file: string): number | null => {
  if (!existsSync(file)) return null;
  const [pid, processStart] = readFileSync(file, 'utf8').split(/ (.*)/s);
  return startedAt(Number(pid)) === processStart ? Number(pid) : null;
};
