import type { AttemptSlots } from './attempt-slots.ts';
import type { EndpointQueue, LeaseStore } from './lease-store.ts';

export interface SchedulerOptions {
  readonly slots: AttemptSlots;
  readonly store: LeaseStore;
  readonly maxAttempts: number;
  /** Whether this instance may start attempts. */
  readonly mayStart: () => boolean;
  /** Starts the next attempt of a queue. Returns false if it may not be sent now. */
  readonly startNext: (queue: EndpointQueue) => boolean;
  /** Monotonic clock. */
  readonly nowMs: () => number;
}

/** Decides which endpoint gets the next attempt: each up to its concurrency limit and a fair part of all slots. A slot
 *  that becomes free goes to the endpoint that has waited longest. */
export const createScheduler = ({ slots, store, maxAttempts, mayStart, startNext, nowMs }: SchedulerOptions) => {
  // Endpoints that wait for a slot, longest wait first.
  const waiting = new Set<EndpointQueue>();

  const fairConcurrency = () => Math.max(1, Math.floor(maxAttempts / Math.max(1, store.busyQueues())));
  const hasSlot = ({ endpoint }: EndpointQueue) => slots.isFree(endpoint.capacityShare(nowMs()));
  /** Starts the attempts of an endpoint that may start now. Returns whether it started any. */
  const run = (queue: EndpointQueue): boolean => {
    let started = false;
    while (mayStart() && queue.ready.length > 0 && queue.endpoint.mayStart(nowMs(), fairConcurrency())) {
      if (!hasSlot(queue)) {
        waiting.add(queue);
        break;
      }
      if (!startNext(queue)) break;
      started = true;
    }
    return started;
  };
  /** Gives a slot that became free to the first waiting endpoint that may use it. */
  const slotFreed = () => {
    for (const queue of waiting) {
      if (!hasSlot(queue)) continue;
      waiting.delete(queue);
      if (run(queue)) return;
    }
  };
  return { run, slotFreed };
};
