import type { Delivery } from '../delivery/delivery.ts';
import { createEndpoint, type Endpoint, type EndpointLimits } from '../attempts/endpoint.ts';
import { createOrdering } from './ordering.ts';

/** The leased deliveries of one webhook. */
export interface EndpointQueue {
  readonly webhookId: string;
  readonly endpoint: Endpoint;
  /** Deliveries whose next attempt may start now. */
  readonly ready: Delivery[];
  /** All leased deliveries: ready, waiting for their ordering key, in flight, or waiting for their result to be
   *  recorded. */
  leased: number;
}

/** The deliveries that this instance has leased, in memory. The database has them too, so a crash loses none. */
export const createLeaseStore = (limits: EndpointLimits) => {
  const deliveries = new Map<string, Delivery>();
  const queues = new Map<string, EndpointQueue>();
  const ordering = createOrdering();
  let bytes = 0;
  let busyQueues = 0;

  const queueOf = (webhookId: string): EndpointQueue => {
    const existing = queues.get(webhookId);
    if (existing) return existing;
    const queue: EndpointQueue = { webhookId, endpoint: createEndpoint(limits), ready: [], leased: 0 };
    queues.set(webhookId, queue);
    return queue;
  };
  const addOne = (delivery: Delivery): EndpointQueue | null => {
    if (deliveries.has(delivery.position)) return null;
    const queue = queueOf(delivery.webhookId);
    deliveries.set(delivery.position, delivery);
    bytes += delivery.event.body.length;
    queue.leased += 1;
    if (queue.leased === 1) busyQueues += 1;
    if (delivery.attempts > 0 || ordering.admit(delivery)) queue.ready.push(delivery);
    return queue;
  };
  /** Ends a first attempt: the next delivery of the ordering key becomes ready. */
  const completeFirstAttempt = (delivery: Delivery) => {
    const next = ordering.complete(delivery);
    if (next) queueOf(next.webhookId).ready.push(next);
  };
  return {
    queueOf,
    /** Unlike `queueOf`, does not create the queue. */
    find: (webhookId: string) => queues.get(webhookId),
    queues: () => [...queues.values()],
    size: () => deliveries.size,
    bytes: () => bytes,
    /** How many webhooks have leased deliveries. */
    busyQueues: () => busyQueues,
    positions: () => [...deliveries.keys()],
    /** Adds deliveries in this order. Returns the queues they went to, and those of which an earlier lease is in the
     *  store: their attempt still runs, so they are not added. */
    add: (added: readonly Delivery[]) => {
      const touched = new Set<EndpointQueue>();
      const leasedTwice: Delivery[] = [];
      for (const delivery of added) {
        const queue = addOne(delivery);
        if (queue) touched.add(queue);
        else leasedTwice.push(delivery);
      }
      return { queues: touched, leasedTwice };
    },
    /** Does nothing for a delivery that is not in the store, or that was leased again since. */
    remove: (delivery: Delivery) => {
      if (deliveries.get(delivery.position) !== delivery) return;
      deliveries.delete(delivery.position);
      bytes -= delivery.event.body.length;
      const queue = queueOf(delivery.webhookId);
      queue.leased -= 1;
      if (queue.leased === 0) busyQueues -= 1;
    },
    completeFirstAttempt,
    /** Cancels the next attempt of the waiting deliveries that match, and returns them. They occupy memory until
     *  `remove`. Attempts in flight continue. */
    cancelWaiting: (matches: (delivery: Delivery) => boolean): Delivery[] => {
      const canceled = ordering.removeWaiting(matches);
      for (const { ready } of queues.values()) {
        const matching = ready.filter(matches);
        if (matching.length === 0) continue;
        ready.splice(0, Infinity, ...ready.filter((delivery) => !matches(delivery)));
        canceled.push(...matching);
        for (const delivery of matching) completeFirstAttempt(delivery);
      }
      return canceled;
    },
    evictStale: (now: number) => {
      for (const [webhookId, { leased, endpoint }] of queues)
        if (leased === 0 && endpoint.isStale(now)) queues.delete(webhookId);
    },
  };
};

export type LeaseStore = ReturnType<typeof createLeaseStore>;
