import type { Watched } from './chain-source.ts';

/** Filters addresses by a number, because encoding every address of a block is slow.
 *  Other addresses rarely have the number of a watched one. */
export const watchedKeys = (
  keyOf: (address: string) => number | null,
): ((watched: Watched) => { readonly has: (key: number) => boolean }) => {
  const filters = new WeakMap<Watched, { readonly keys: Set<number | null>; size: number }>();
  return (watched) => {
    const filter = filters.get(watched) ?? { keys: new Set(), size: 0 };
    filters.set(watched, filter);
    if (filter.size < watched.size) {
      for (const address of [...watched.keys()].slice(filter.size)) filter.keys.add(keyOf(address));
      filter.size = watched.size;
    }
    return filter.keys;
  };
};
