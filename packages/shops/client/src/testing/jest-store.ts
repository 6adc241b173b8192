import type { Store } from '../store.ts';

export class Crash extends Error {}

/** A store in memory. `step` runs before and after each operation: it may wait, or throw like a process that dies. */
export const memoryStore = (
  rows = new Map<string, string>(),
  step: () => Promise<void> = async () => {},
): Store & { readonly rows: Map<string, string> } => ({
  rows,
  read: async (name) => {
    await step();
    return rows.get(name);
  },
  replace: async (name, expected, next) => {
    await step();
    const isAsExpected = rows.get(name) === expected;
    if (isAsExpected) rows.set(name, next);
    await step();
    return isAsExpected;
  },
});
