import { renameSync, writeFileSync } from 'node:fs';
import { LaunchError } from '../config.ts';

/** Replaces a file atomically: a reader sees the old or the new content, never a part. */
export const writeAtomically = (path: string, text: string, mode = 0o644): void => {
  const temporary = `${path}.new`;
  writeFileSync(temporary, text, { mode });
  renameSync(temporary, path);
};

/** Replaces a file atomically with a value as JSON. */
export const writeJson = (path: string, value: unknown, mode?: number): void =>
  writeAtomically(path, `${JSON.stringify(value, null, 2)}\n`, mode);

const REASONS: Record<string, string> = {
  EACCES: 'this user may not write to it',
  EPERM: 'this user may not write to it',
  ENOENT: 'it cannot be created',
  EROFS: 'it is read-only',
  ENOSPC: 'there is no space left',
  EDQUOT: 'there is no space left',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'another program is writing to it',
  ENAMETOOLONG: 'the path is too long',
};

/** Runs `work`, which writes to the data folder. Turns a system error into a LaunchError with the reason and a
 *  remedy. */
export const explainWriteErrors = <T>(folder: string, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (!code) throw cause;
    const reason = REASONS[code] ?? code;
    const advice = `${code === 'ENOSPC' || code === 'EDQUOT' ? 'free some space, or ' : ''}set DATA_DIR to another folder`;
    throw new LaunchError(`the data folder ${folder} cannot be used, ${reason}: ${advice}`, { cause });
  }
};
