import { LEASE_MS } from './leases.ts';

/** Runs the changes of this instance's leases one at a time, in the order in which they were requested. */
export interface LeaseChanges {
  readonly exclusively: <T>(change: () => Promise<T>) => Promise<T>;
  /** Releases unknown leases if that is due, and waits for the changes requested before. */
  readonly reconcile: () => Promise<void>;
}

/** After a failed change it is unknown whether the database made it. `releaseUnknown`, which releases leases that are
 *  in the database but not in memory, then runs before the next change. So every lease in the database is also in
 *  memory, which the order of first attempts relies on. A statement that timed out here may still run later:
 *  `releaseUnknown` also runs every `everyMs`. */
export const createLeaseChanges = (releaseUnknown: () => Promise<void>, everyMs = LEASE_MS): LeaseChanges => {
  let last: Promise<unknown> = Promise.resolve();
  let hasFailed = false;
  let reconciledAt = performance.now();

  const run = async <T>(change: () => Promise<T>): Promise<T> => {
    try {
      if (hasFailed || performance.now() - reconciledAt >= everyMs) {
        await releaseUnknown();
        reconciledAt = performance.now();
      }
      hasFailed = false;
      return await change();
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  const exclusively = <T>(change: () => Promise<T>): Promise<T> => {
    const done = last.then(() => run(change));
    last = done.catch(() => {});
    return done;
  };
  return { exclusively, reconcile: () => exclusively(async () => {}) };
};
