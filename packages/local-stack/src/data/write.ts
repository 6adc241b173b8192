import { renameSync, writeFileSync } from 'node:fs';
import { LaunchError } from '../launch-error.ts';

/** Puts a file in place as a whole: whoever reads it sees the old one or the new one. */
export const writeWhole = (path: string, text: string, mode = 0o644): void => {
  const beside = `${path}.new`;
  writeFileSync(beside, text, { mode });
  renameSync(beside, path);
};

/** The same for a value as JSON. */
export const writeJson = (path: string, value: unknown, mode?: number): void =>
  writeWhole(path, `${JSON.stringify(value, null, 2)}\n`, mode);

const REASONS: Record<string, string> = {
  EACCES: 'this account may not write there',
  EPERM: 'this account may not write there',
  ENOENT: 'it cannot be made there',
  EROFS: 'it is read-only',
  ENOSPC: 'there is no space left',
  EDQUOT: 'there is no space left',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'something else is being written there',
  ENAMETOOLONG: 'the path is too long',
};

/** Runs what writes to the data folder; throws LaunchError with the reason in words where the system refuses. */
export const inDataFolder = <T>(folder: string, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (!code) throw cause;
    const reason = REASONS[code] ?? code;
    const advice = `${code === 'ENOSPC' || code === 'EDQUOT' ? 'make room there, or ' : ''}set DATA_DIR to another`;
    throw new LaunchError(`the data folder ${folder} cannot be used, ${reason}: ${advice}`, { cause });
  }
};
