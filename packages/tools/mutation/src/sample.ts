/** Numbers in [0, 1) that follow from the seed: mulberry32. */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** The items in a random order. */
export const shuffled = <T>(items: readonly T[], random: () => number): T[] => {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
};

/** One item of each place, places and items in a random order. */
export const onePerPlace = <T>(items: readonly T[], placeOf: (item: T) => string, random: () => number): T[] => {
  const places = new Map<string, T[]>();
  for (const item of items) places.set(placeOf(item), [...(places.get(placeOf(item)) ?? []), item]);
  return shuffled([...places.values()], random).map((changes) => changes[Math.floor(random() * changes.length)]!);
};
