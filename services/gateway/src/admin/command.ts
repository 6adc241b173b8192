import { parseArgs } from 'node:util';
import { alignedColumns, printable } from '@cpg/platform';
import { Instant } from '../api/lists/list-query.ts';

/** An expected failure of an admin command. The message is printed to the operator. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
}

export interface ParsedCommand<Name extends string> {
  readonly positionals: readonly string[];
  readonly values: Partial<Record<Name, string>>;
}

/** Parses arguments whose options all take a value. Throws AdminError with `usage` when an option is unknown or has no
 *  value. */
export const parseOptions = <Name extends string>(
  args: readonly string[],
  names: readonly Name[],
  usage: string,
): ParsedCommand<Name> => {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' } as const]));
  try {
    const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options });
    return { positionals, values: values as Partial<Record<Name, string>> };
  } catch (error) {
    throw new AdminError(`${(error as Error).message}\n\n${usage}`);
  }
};

/** Parses an instant with a timezone, such as `2027-01-31T12:00:00Z`. Throws AdminError. */
export const parseInstant = (text: string): Date => {
  const { data, error } = Instant.safeParse(text);
  if (error) throw new AdminError(`${text}: ${error.issues[0]!.message}`);
  return data;
};

/** Formats rows of text as aligned columns under a header. */
export const table = (header: readonly string[], cells: readonly (readonly string[])[]): string =>
  alignedColumns([header, ...cells.map((row) => row.map(onOneLine))]);

// Text of a merchant must not look like another row.
const onOneLine = (cell: string) => printable(cell.replaceAll('\n', '\\n').replaceAll('\t', '\\t'));
