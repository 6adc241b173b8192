import { type Delivery, laneOf } from './delivery.ts';

/** First attempts of a lane, one after another. A lane exists while a first attempt of it waits or runs. */
export interface Lanes {
  /** Whether the delivery may make its first attempt now; else it waits for its turn. */
  readonly enter: (delivery: Delivery) => boolean;
  /** Its first attempt has ended, whatever the outcome: returns who may go next. */
  readonly leave: (delivery: Delivery) => Delivery | undefined;
  /** Takes out those that wait behind others and match. */
  readonly removeWaiting: (matches: (delivery: Delivery) => boolean) => Delivery[];
}

export const createLanes = (): Lanes => {
  const lanes = new Map<string, { head: Delivery; waiting: Delivery[] }>();
  return {
    enter: (delivery) => {
      const key = laneOf(delivery);
      const lane = lanes.get(key);
      if (lane) lane.waiting.push(delivery);
      else lanes.set(key, { head: delivery, waiting: [] });
      return lane === undefined;
    },
    leave: (delivery) => {
      const key = laneOf(delivery);
      const lane = lanes.get(key);
      if (lane?.head !== delivery) return undefined;
      const next = lane.waiting.shift();
      if (next) lane.head = next;
      else lanes.delete(key);
      return next;
    },
    removeWaiting: (matches) => {
      const removed: Delivery[] = [];
      for (const lane of lanes.values()) {
        if (!lane.waiting.some(matches)) continue;
        removed.push(...lane.waiting.filter(matches));
        lane.waiting = lane.waiting.filter((delivery) => !matches(delivery));
      }
      return removed;
    },
  };
};
