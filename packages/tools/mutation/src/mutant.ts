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
  // From the end, so that earlier positions stay. What ends at a position closes before the next begins.
  for (const { at, text } of inserts.sort((a, b) => b.at - a.at || Number(a.closes) - Number(b.closes))) {
    probed = probed.slice(0, at) + text + probed.slice(at);
  }
  return probed;
};
