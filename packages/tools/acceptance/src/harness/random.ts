/** Repeatable random numbers: the same seed gives the same numbers. */
export interface Random {
  /** In [0, 1). */
  readonly next: () => number;
  /** A whole number in [from, to]. */
  readonly between: (from: number, to: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
}

/** A 32-bit generator in the style of SplitMix: adds the golden ratio and mixes the bits. */
export const seededRandom = (seed: number): Random => {
  let count = seed | 0;
  const next = () => {
    count = (count + 0x9e3779b9) | 0;
    let mixed = Math.imul(count ^ (count >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (from) => from[Math.floor(next() * from.length)]!,
  };
};
