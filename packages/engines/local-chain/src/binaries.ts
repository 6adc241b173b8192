import { appendFileSync, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Folder of this user for programs that tests built or installed once. */
export const toolFolder = (name: string): string =>
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'cpg-test-nodes', name);

/** The program on the PATH; null if there is none. */
export const onPath = (name: string): string | null =>
  firstExisting((process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)));

export const firstExisting = (files: readonly string[]): string | null =>
  files.find((file) => existsSync(file)) ?? null;

/** Reports that tests are skipped, now and in the summary of `npm test`. */
export const reportSkipped = (reason: string): void => {
  process.stderr.write(`${reason}\n`);
  if (process.env.SKIPPED_BECAUSE) appendFileSync(process.env.SKIPPED_BECAUSE, `${reason}\n`);
};
