import { LEASE_MS } from '../storage/leases.ts';

/** Changes of what is leased to this instance, one at a time and in the order in which they came. */
export interface LeaseChanges {
  readonly exclusively: <T>(change: () => Promise<T>) => Promise<T>;
  /** Makes good for a change that failed, if one did lately or may have been made since. */
  readonly settle: () => Promise<void>;
}

/** After a change that failed it is unknown whether the database made it. Before the next one, `giveBackStrays` frees what is leased to us but
 *  not in memory. So what the queue says is leased to us is always in memory, in its place: that is what the order of a lane rests on. A
 *  change whose answer was given up may be made long afterwards: strays are looked for every `everyMs` besides. */
export const createLeaseChanges = (giveBackStrays: () => Promise<void>, everyMs = LEASE_MS): LeaseChanges => {
  let last: Promise<unknown> = Promise.resolve();
  let inDoubt = false;
  let lookedAt = performance.now();

  const change = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      if (inDoubt || performance.now() - lookedAt >= everyMs) {
        await giveBackStrays();
        lookedAt = performance.now();
      }
      inDoubt = false;
      return await work();
    } catch (error) {
      inDoubt = true;
      throw error;
    }
  };
  const exclusively = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(() => change(work));
    last = done.catch(() => {});
    return done;
  };
  return { exclusively, settle: () => exclusively(async () => {}) };
};
