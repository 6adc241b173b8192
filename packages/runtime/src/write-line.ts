import { once } from 'node:events';

let isWatched = false;

/** Writes a line to standard output, no faster than whoever reads it. When they have enough, as `head` has, the process ends. */
export const writeLine = async (line: string): Promise<void> => {
  if (!isWatched) process.stdout.once('error', () => process.exit(0));
  isWatched = true;
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
};
