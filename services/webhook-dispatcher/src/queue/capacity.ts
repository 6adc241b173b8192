import type { LeaseStore } from './lease-store.ts';

/** Bounds of one instance. */
export interface Capacity {
  /** Deliveries in memory. */
  readonly deliveries: number;
  /** Bytes of bodies in memory. */
  readonly bytes: number;
  /** Concurrent attempts, each until its result is durable; slow attempts do not count. */
  readonly attempts: number;
}

export const CAPACITY: Capacity = { deliveries: 4_096, bytes: 32 * 1_024 * 1_024, attempts: 512 };

/** Above this fill level memory is scarce. With a lower one, requeued deliveries would be claimed again at once. */
const SCARCE = 7 / 8;

export interface MemoryLimitOptions {
  readonly store: LeaseStore;
  readonly capacity: Capacity;
  /** Whether new deliveries may be leased at all. */
  readonly mayLease: () => boolean;
  /** Monotonic clock. */
  readonly nowMs: () => number;
}

/** Decides how many deliveries fit into memory: in total, and for one endpoint. */
export const createMemoryLimit = ({ store, capacity, mayLease, nowMs }: MemoryLimitOptions) => {
  const roomFor = (webhookId: string): number => {
    if (!mayLease()) return 0;
    const { endpoint, leased } = store.queueOf(webhookId);
    const share = endpoint.capacityShare(nowMs());
    if (store.bytes() >= capacity.bytes * share) return 0;
    const free = Math.floor(capacity.deliveries * share) - store.size();
    return Math.max(0, Math.min(endpoint.bufferSize(nowMs()) - leased, free));
  };
  return {
    freeDeliveries: () => capacity.deliveries - store.size(),
    freeBytes: () => capacity.bytes - store.bytes(),
    isScarce: () => store.size() > capacity.deliveries * SCARCE || store.bytes() > capacity.bytes * SCARCE,
    /** How many more deliveries to claim for a webhook: none until half of its buffer is free, so that claims are few
     *  and large. */
    demandOf: (webhookId: string): number => {
      const room = roomFor(webhookId);
      return room * 2 >= store.queueOf(webhookId).endpoint.bufferSize(nowMs()) ? room : 0;
    },
    /** Returns a function that decides for new deliveries, one after another, whether they fit. Once it refuses a
     *  webhook, it refuses all later deliveries of it: a later event of an order must not be leased here when an
     *  earlier one is not. */
    admission: (): ((webhookId: string, bytes: number) => boolean) => {
      const admitted = new Map<string, number>();
      let totalBytes = 0;
      let total = 0;
      return (webhookId, bytes) => {
        const ofWebhook = admitted.get(webhookId) ?? 0;
        const room = Math.min(roomFor(webhookId) - ofWebhook, capacity.deliveries - store.size() - total);
        const fits = room > 0 && store.bytes() + totalBytes < capacity.bytes;
        admitted.set(webhookId, fits ? ofWebhook + 1 : Infinity);
        if (fits) {
          total += 1;
          totalBytes += bytes;
        }
        return fits;
      };
    },
  };
};
