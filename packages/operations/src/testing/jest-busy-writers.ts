import { setTimeout as sleep } from 'node:timers/promises';
import type { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';

type Tallies = Awaited<ReturnType<typeof startTallies>>;

/** Starts concurrent writers that read back each of their writes. `stop` resolves to the last number by id. */
export const busyWriters = (tallies: Tallies, name: string, count: number) => {
  let running = true;
  const last = new Map<string, number>();
  const writer = async (which: number) => {
    for (let n = 1; running; n += 1) {
      const id = `${name}-${which}-${n % 5}`;
      const revision = await tallies.tally(id, n);
      last.set(id, n);
      await sleep(5);
      const seen = await tallies.revisionOf(id);
      if (seen === undefined || seen < revision)
        throw new Error(`${id} was written at revision ${revision} and read at ${seen}`);
    }
  };
  const writers = Promise.all(Array.from({ length: count }, (_, which) => writer(which)));
  writers.catch(() => {});
  return {
    last,
    stop: async () => {
      running = false;
      await writers;
      return last;
    },
  };
};
