import type { Delivery } from '../delivery/delivery.ts';

/** Bounds the concurrent attempts of this instance. An attempt keeps its slot until its result is durable: so a crash
 *  repeats at most
 *  `limit` attempts, and a slow database slows attempts down instead of filling memory. Attempts that run longer than
 *  `slowMs` give their slot back, since they only wait. */
export const createAttemptSlots = ({ limit, slowMs }: { limit: number; slowMs: number }) => {
  // Start times of attempts in flight, oldest first, without those that are slow.
  const running = new Map<Delivery, number>();
  const unrecorded = new Set<Delivery>();
  return {
    /** Whether a slot is free if only `share` of them, a fraction of 1, may be used. */
    isFree: (share: number) => running.size + unrecorded.size < limit * share,
    take: (delivery: Delivery, now: number) => {
      running.set(delivery, now);
    },
    /** Keeps the slot of an attempt that has ended until its result is durable. */
    holdUntilRecorded: (delivery: Delivery) => {
      running.delete(delivery);
      unrecorded.add(delivery);
    },
    /** Returns whether the delivery had a slot. */
    free: (delivery: Delivery): boolean => unrecorded.delete(delivery) || running.delete(delivery),
    freeSlow: (now: number) => {
      for (const [delivery, startedAt] of running) {
        if (now - startedAt < slowMs) break;
        running.delete(delivery);
      }
    },
  };
};

export type AttemptSlots = ReturnType<typeof createAttemptSlots>;
