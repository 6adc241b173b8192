import type { Logger } from '@cpg/platform';
import type { Directory } from '../webhooks/directory.ts';
import { createAttemptRunner } from './attempt-runner.ts';
import { createAttemptSlots } from './attempt-slots.ts';
import { type Capacity, createMemoryLimit } from './capacity.ts';
import type { Delivery, Result } from '../delivery/delivery.ts';
import type { EndpointLimits, EndpointReport } from '../attempts/endpoint.ts';
import { createLeaseStore, type EndpointQueue } from './lease-store.ts';
import { createRequeueList } from './requeue-list.ts';
import type { Schedule } from '../delivery/schedule.ts';
import { createScheduler } from './scheduler.ts';
import type { Sender } from '../attempts/send.ts';

export interface DispatcherOptions {
  readonly sender: Pick<Sender, 'post' | 'abort'>;
  readonly webhooks: Pick<Directory, 'get'>;
  readonly schedule: Schedule;
  readonly limits: EndpointLimits;
  readonly capacity: Capacity;
  /** Whether the leases of this instance are valid. */
  readonly mayAttempt: () => boolean;
  readonly onResult: (result: Result) => void;
  /** `takeRequeued` has deliveries whose leases are to be released. Called again until they are taken. */
  readonly onRequeue: () => void;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  readonly random: () => number;
  readonly log: Logger;
}

/** Makes the attempts of the deliveries that this instance has leased: within each endpoint's concurrency limit, and
 *  first attempts of one ordering key one after another. */
export const createDispatcher = (options: DispatcherOptions) => {
  const { limits, capacity, mayAttempt, onResult, onRequeue, nowMs = () => performance.now() } = options;
  let isStopping = false;
  const store = createLeaseStore(limits);
  const slots = createAttemptSlots({ limit: capacity.attempts, slowMs: limits.slowMs });
  const memory = createMemoryLimit({ store, capacity, mayLease: () => !isStopping, nowMs });
  const requeues = createRequeueList(store, onRequeue);
  const runner = createAttemptRunner({
    ...options,
    nowMs,
    slots,
    requeues,
    onEnded: (queue, result) => {
      store.completeFirstAttempt(result.delivery);
      onResult(result);
      scheduler.run(queue);
    },
    onAborted: () => scheduler.slotFreed(),
  });
  const scheduler = createScheduler({
    slots,
    store,
    maxAttempts: capacity.attempts,
    mayStart: () => !isStopping && mayAttempt(),
    startNext: runner.startNext,
    nowMs,
  });
  const release = (deliveries: readonly Delivery[]) => {
    for (const delivery of deliveries) {
      store.remove(delivery);
      if (slots.free(delivery)) scheduler.slotFreed();
    }
  };

  return {
    ...memory,
    /** Adds deliveries that were just leased, in the order of their positions, and starts what may start. */
    accept: (deliveries: readonly Delivery[]) => {
      const { queues, leasedTwice } = store.add(deliveries);
      requeues.add(leasedTwice);
      for (const queue of queues) scheduler.run(queue);
    },
    /** Removes deliveries whose result is durable, or whose lease is released. */
    release,
    /** Removes the waiting deliveries of deleted orders. Their rows no longer exist. */
    dropOrders: (orderIds: ReadonlySet<string>) => release(store.cancelWaiting(({ orderId }) => orderIds.has(orderId))),
    /** Removes all waiting deliveries after the leases expired. Attempts in flight continue. */
    dropWaiting: () => release(store.cancelWaiting(() => true)),
    /** Starts what has become possible with time, and frees the memory of endpoints that no longer need it. */
    tick: () => {
      const at = nowMs();
      slots.freeSlow(at);
      const isScarce = memory.isScarce();
      for (const queue of store.queues()) {
        scheduler.run(queue);
        if (isScarce && isOverBuffered(queue, at)) requeues.addWaitingOf(queue.webhookId, { includeTests: true });
      }
      store.evictStale(at);
      if (!requeues.isEmpty()) onRequeue();
    },
    /** Cancels the next attempts of all deliveries to be requeued, and returns these. Call it while no other lease
     *  change runs: until then they keep their place in the order, and later deliveries of their ordering keys wait
     *  behind them. */
    takeRequeued: (): Delivery[] => requeues.take({ all: isStopping }),
    positions: store.positions,
    counts: () => ({ leased: store.size(), inFlight: runner.inFlight() }),
    webhookIds: () => store.queues().flatMap(({ webhookId, leased }) => (leased > 0 ? [webhookId] : [])),
    endpoints: (): EndpointReport[] => store.queues().map((queue) => reportOf(queue, nowMs())),
    isOpen: (webhookId: string): boolean => store.find(webhookId)?.endpoint.state(nowMs()) === 'open',
    /** Requeues what waits and leases nothing more. Attempts in flight have `withinMs` to end; then they are aborted
     *  and requeued. */
    stop: async (withinMs: number): Promise<void> => {
      isStopping = true;
      onRequeue();
      await runner.drain(withinMs);
    },
  };
};

/** Whether an endpoint that became slow still has the buffer of a fast one. */
const isOverBuffered = ({ endpoint, leased }: EndpointQueue, now: number): boolean =>
  leased - endpoint.inFlight() > 2 * endpoint.bufferSize(now);

const reportOf = ({ webhookId, endpoint }: EndpointQueue, now: number): EndpointReport => ({
  webhookId,
  state: endpoint.state(now),
  openForMs: Math.max(0, endpoint.openUntil() - now),
});

export type WebhookDispatcher = ReturnType<typeof createDispatcher>;
