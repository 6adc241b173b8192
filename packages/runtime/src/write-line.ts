import { once } from 'node:events';

let hasErrorListener = false;

/** Writes a line to standard output and waits while its buffer is full. Exits with code 0 when the reader, such as
 *  `head`, closes the pipe. */
export const writeLine = async (line: string): Promise<void> => {
  if (!hasErrorListener) process.stdout.once('error', () => process.exit(0));
  hasErrorListener = true;
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
};
