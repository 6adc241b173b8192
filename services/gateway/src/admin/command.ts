import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { alignedColumns, printable } from '@cpg/platform';
import { CommandError } from '@cpg/platform/commands';
import type { Queryable } from '@cpg/platform/postgres';
import { Instant } from '../api/lists/list-query.ts';
import { merchantById, type StoredMerchant } from '../api/merchants/merchant-queries.ts';

/** The argument of commands on one merchant. */
export const MERCHANT = ['<merchant>', 'the id of the merchant'] as const;

/** Throws CommandError if there is no such merchant. */
export const findMerchant = async (db: Queryable, id: string): Promise<StoredMerchant> =>
  orUnknown(id, await merchantById(db, id));

/** Returns what was found for a merchant, or throws CommandError. */
export const orUnknown = <T>(merchantId: string, found: T | null): T => {
  if (found !== null) return found;
  throw new CommandError(`there is no merchant ${merchantId}`);
};

/** Parses an instant with a timezone, such as `2027-01-31T12:00:00Z`. Throws CommandError that names the option. */
export const parseInstant = (name: string, text: string): Date => {
  const { data, error } = Instant.safeParse(text);
  if (error) throw new CommandError(`${name}: ${text} ${error.issues[0]!.message}`);
  return data;
};

/** Who decides something, and why, as an auditor reads it. */
export interface Signature {
  readonly by: string;
  readonly reason: string;
}

/** Throws CommandError if a part of it is empty. `action` says what the person does, such as `decides it`. */
export const checkSigned = ({ by, reason }: Signature, action: string): void => {
  if (!by.trim() || !reason.trim()) throw new CommandError(`--by or --reason is empty: say who ${action}, and why`);
};

/** Reads a JSON file, or with `-` standard input. Throws CommandError. */
export const readJson = async (file: string): Promise<unknown> => {
  try {
    return JSON.parse(file === '-' ? await readAll(process.stdin) : await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandError(`cannot read ${file === '-' ? 'standard input' : file}: ${(error as Error).message}`);
  }
};

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** Formats rows of text as aligned columns under a header. */
export const table = (header: readonly string[], cells: readonly (readonly string[])[]): string =>
  alignedColumns([header, ...cells.map((row) => row.map(onOneLine))]);

// Text of a merchant must not look like another row.
const onOneLine = (cell: string) => printable(cell.replaceAll('\n', '\\n').replaceAll('\t', '\\t'));
