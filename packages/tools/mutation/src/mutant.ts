/** One change of one place of a source file. */
export interface Mutant {
  readonly operator: string;
  /** The text from `start` to `end` of the file becomes `after`. */
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
  readonly line: number;
  /** Where the file records that a test reaches the place: before a statement, or around an expression. */
  readonly probe: Probe;
}

export type Probe =
  | { readonly kind: 'statement'; readonly at: number }
  | { readonly kind: 'expression'; readonly start: number; readonly end: number };

/** The source with one change. */
export const mutate = (source: string, { start, end, after }: Mutant): string =>
  source.slice(0, start) + after + source.slice(end);

/** The source that records which of its mutants a test reaches: it calls `mutationHit` with their numbers. */
export const withProbes = (source: string, mutants: readonly (Mutant & { readonly id: number })[]): string => {
  const inserts = mutants.flatMap(({ id, probe }) => {
    const hit = `globalThis.mutationHit?.(${id})`;
    return probe.kind === 'statement'
      ? [{ at: probe.at, text: `;${hit};`, closes: false }]
      : [
          { at: probe.start, text: `(${hit}, `, closes: false },
          { at: probe.end, text: ')', closes: true },
        ];
  });
  let probed = source;
  // From the end, so that earlier positions stay. At the same position, an end comes before a start.
  for (const { at, text } of inserts.sort((a, b) => b.at - a.at || Number(a.closes) - Number(b.closes))) {
    probed = probed.slice(0, at) + text + probed.slice(at);
  }
  return probed;
};

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
