/** Places tried in each group if `--sample` says nothing: about ten minutes on two idle cores. */
export const SAMPLE = 80;

/** Changes tried at once if `--workers` says nothing. */
export const WORKERS = 2;

/** The files and folders that `npm run test:mutation` measures, by the name of the row in its table. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  orders: ['services/orders/src'],
  payment: ['payment', 'matching', 'payables', 'addresses', 'books'].map((room) => `services/payments/src/${room}`),
  contracts: ['packages/contracts/src'],
  webhooks: ['services/webhook-dispatcher/src'],
  gateway: ['services/gateway/src/door', 'services/gateway/src/api'],
  chains: ['services/payments/src/chains'],
  'event-sourcing': ['packages/event-sourcing/src', 'packages/operations/src'],
};

const NOT_TRIED =
  /\.test\.tsx?$|\.d\.ts$|\/(testing|examples|generated|publish|bench)\/|\/(main|app|admin|migrate|config|index|examples?|error-texts|write)\.ts$/;

/** Whether changes of this file are tried: files that only start a service, and texts, are not. */
export const isTried = (path: string): boolean => /\.tsx?$/.test(path) && !NOT_TRIED.test(path);

/** Whether the path is one of the given files, or in one of the given folders. */
export const isIn = (path: string, paths: readonly string[]): boolean =>
  paths.some((one) => path === one || path.startsWith(`${one.replace(/\/$/, '')}/`));

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
