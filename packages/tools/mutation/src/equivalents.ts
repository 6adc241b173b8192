import type { Mutant } from './mutant.ts';

/** A change that alters nothing a test could see. It is found by its texts, so it survives edits elsewhere in the file.
 *  The list is equivalent.json. */
export interface Equivalent {
  readonly file: string;
  /** The line of the source that begins the change, without indentation. */
  readonly line: string;
  readonly before: string;
  readonly after: string;
  readonly because: string;
}

export interface Located extends Mutant {
  readonly file: string;
  readonly lineText: string;
}

/** Splits the mutants into those to try and the named equivalents; `unmatched` are entries of these files that match no
 *  mutant. */
export const withoutEquivalents = <T extends Located>(
  mutants: readonly T[],
  equivalents: readonly Equivalent[],
): { readonly tried: T[]; readonly unmatched: Equivalent[] } => {
  const keys = new Map(equivalents.map((entry) => [keyOf(entry.file, entry.line, entry), entry]));
  const unmatched = new Set(equivalents);
  const tried = mutants.filter((mutant) => {
    const entry = keys.get(keyOf(mutant.file, mutant.lineText, mutant));
    if (entry) unmatched.delete(entry);
    return !entry;
  });
  return { tried, unmatched: [...unmatched] };
};

const keyOf = (file: string, line: string, { before, after }: { readonly before: string; readonly after: string }) =>
  JSON.stringify([file, line.trim(), oneLine(before), oneLine(after)]);

/** The text with single blanks, as reports show it. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
