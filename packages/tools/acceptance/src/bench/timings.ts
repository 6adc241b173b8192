/** Statistics of durations, in milliseconds. */
export interface Timings {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
}

/** Throws RangeError if there are no measurements. */
export const timingsOf = (measuredMs: readonly number[]): Timings => {
  if (measuredMs.length === 0) throw new RangeError('nothing was measured');
  const sorted = [...measuredMs].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
  return { count: sorted.length, median: at(0.5), p99: at(0.99) };
};

/** Runs `work` `times` times, one after another, after `warmUp` runs that do not count. */
export const oneByOne = async (times: number, work: () => Promise<unknown>, warmUp = 0): Promise<Timings> => {
  for (let n = 0; n < warmUp; n += 1) await work();
  const measured: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const began = performance.now();
    await work();
    measured.push(performance.now() - began);
  }
  return timingsOf(measured);
};

/** The medians of several works that run in turns, `times` times each after `warmUp` runs, so that a busy machine slows
 *  all of them. In milliseconds. */
export const inTurns = async (
  times: number,
  works: readonly (() => Promise<unknown>)[],
  warmUp = 0,
): Promise<number[]> => {
  const measured = works.map((): number[] => []);
  for (let n = -warmUp; n < times; n += 1)
    for (const [index, work] of works.entries()) {
      const began = performance.now();
      await work();
      if (n >= 0) measured[index]!.push(performance.now() - began);
    }
  return measured.map((durations) => timingsOf(durations).median);
};

export interface Throughput extends Timings {
  readonly perSecond: number;
}

/** Runs `work` for `forMs`, `at` runs at a time. */
export const sustained = async (
  { at, forMs }: { at: number; forMs: number },
  work: () => Promise<unknown>,
): Promise<Throughput> => {
  const measured: number[] = [];
  const began = performance.now();
  const one = async () => {
    while (performance.now() - began < forMs) {
      const start = performance.now();
      await work();
      measured.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: at }, one));
  return { ...timingsOf(measured), perSecond: (measured.length * 1_000) / (performance.now() - began) };
};
