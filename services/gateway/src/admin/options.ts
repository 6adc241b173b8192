import { parseArgs } from 'node:util';
import { AdminError } from './admin-error.ts';

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
