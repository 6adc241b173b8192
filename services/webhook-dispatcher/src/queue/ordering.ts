import { type Delivery, orderingKeyOf } from '../delivery/delivery.ts';

/** Runs the first attempts of one ordering key one after another. A key exists while a first attempt of it waits or
 *  runs. */
export interface Ordering {
  /** Whether the delivery's first attempt may start now; otherwise the delivery waits. */
  readonly admit: (delivery: Delivery) => boolean;
  /** Ends the delivery's first attempt, whatever its outcome. Returns the next delivery of the key. */
  readonly complete: (delivery: Delivery) => Delivery | undefined;
  /** Removes the waiting deliveries that match, and returns them. */
  readonly removeWaiting: (matches: (delivery: Delivery) => boolean) => Delivery[];
}

export const createOrdering = (): Ordering => {
  const keys = new Map<string, { current: Delivery; waiting: Delivery[] }>();
  return {
    admit: (delivery) => {
      const key = orderingKeyOf(delivery);
      const entry = keys.get(key);
      if (entry) entry.waiting.push(delivery);
      else keys.set(key, { current: delivery, waiting: [] });
      return entry === undefined;
    },
    complete: (delivery) => {
      const key = orderingKeyOf(delivery);
      const entry = keys.get(key);
      if (entry?.current !== delivery) return undefined;
      const next = entry.waiting.shift();
      if (next) entry.current = next;
      else keys.delete(key);
      return next;
    },
    removeWaiting: (matches) => {
      const removed: Delivery[] = [];
      for (const entry of keys.values()) {
        if (!entry.waiting.some(matches)) continue;
        removed.push(...entry.waiting.filter(matches));
        entry.waiting = entry.waiting.filter((delivery) => !matches(delivery));
      }
      return removed;
    },
  };
};
