import { once } from 'node:events';

/** The exit code of a command whose reader closed the pipe, as shells show it: 128 + SIGPIPE. */
const READER_LEFT = 141;

let hasErrorListener = false;

/** Writes text to standard output, with `printable` characters only, and waits while its buffer is full. Ends the
 *  process when the reader, such as `head`, closes the pipe. */
export const writeLine = async (text: string): Promise<void> => {
  if (!hasErrorListener) process.stdout.once('error', () => process.exit(READER_LEFT));
  hasErrorListener = true;
  if (!process.stdout.write(`${printable(text)}\n`)) await once(process.stdout, 'drain');
};

/** Writes text to standard error, with `printable` characters only. */
export const writeErrorLine = (text: string): void => void process.stderr.write(`${printable(text)}\n`);

/** Writes why a command ended. An expected error explains itself. */
export const writeFailure = (error: unknown, isExpected: boolean): void => {
  const reason = (error as Error).message || String(error);
  writeErrorLine(isExpected ? reason : `the command failed: ${reason}`);
};

// Control characters but tab and line feed, and those that change the direction of text.
// eslint-disable-next-line no-control-regex
const NOT_PRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes what makes a terminal do something else than show text: merchants and payers write what commands print.
 *  Escapes as JSON does, so that JSON stays the same value. */
export const printable = (text: string): string =>
  text.replace(NOT_PRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Formats rows of text as aligned columns. The first row, the header, has a cell for each column. */
export const alignedColumns = (rows: readonly (readonly string[])[]): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
