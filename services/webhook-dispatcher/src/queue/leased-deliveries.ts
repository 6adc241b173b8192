import type { Delivery } from '../delivery/delivery.ts';
import { createEndpoint, type Endpoint, type EndpointLimits } from '../attempts/endpoint.ts';

/** Bounds of one instance. */
export interface Capacity {
  /** Deliveries in memory. */
  readonly deliveries: number;
  /** Bytes of bodies in memory. */
  readonly bytes: number;
  /** Concurrent attempts, each until its result is durable. An attempt that runs longer than `slowMs` does not count
   *  until it ends. */
  readonly attempts: number;
}

export const CAPACITY: Capacity = { deliveries: 4_096, bytes: 32 * 1_024 * 1_024, attempts: 512 };

/** Above this fill level, endpoints that became slower give back deliveries that wait. It is above the capacity share
 *  of an unhealthy endpoint, which would otherwise claim them again at once. */
const SCARCE = 7 / 8;

/** The leased deliveries of one webhook. First attempts of one order run one after another; retries are not ordered. */
export class EndpointQueue {
  readonly webhookId: string;
  readonly endpoint: Endpoint;
  /** Deliveries whose next attempt may start now. */
  readonly ready: Delivery[] = [];
  /** All leased deliveries: ready, waiting for their order, in flight, or waiting for their result to be recorded. */
  leased = 0;
  /** Orders of which a first attempt is ready or in flight, with the deliveries behind it. */
  readonly #orders = new Map<string, { current: Delivery; waiting: Delivery[] }>();

  constructor(webhookId: string, limits: EndpointLimits) {
    this.webhookId = webhookId;
    this.endpoint = createEndpoint(limits);
  }

  add(delivery: Delivery): void {
    this.leased += 1;
    const order = delivery.attempts === 0 ? this.#orders.get(delivery.orderId) : undefined;
    if (order) return void order.waiting.push(delivery);
    if (delivery.attempts === 0) this.#orders.set(delivery.orderId, { current: delivery, waiting: [] });
    this.ready.push(delivery);
  }

  /** Ends a first attempt, whatever its outcome: the next delivery of the order becomes ready. */
  complete(delivery: Delivery): void {
    const order = this.#orders.get(delivery.orderId);
    if (order?.current !== delivery) return;
    const next = order.waiting.shift();
    if (!next) return void this.#orders.delete(delivery.orderId);
    order.current = next;
    this.ready.push(next);
  }

  /** Cancels the next attempt of the waiting deliveries that match, and returns them; they stay leased until they are
   *  removed. Attempts in flight continue. */
  cancelWaiting(matches: (delivery: Delivery) => boolean): Delivery[] {
    const behind = [...this.#orders.values()].flatMap((order) => {
      const canceled = order.waiting.filter(matches);
      order.waiting = order.waiting.filter((delivery) => !matches(delivery));
      return canceled;
    });
    const ready = this.ready.filter(matches);
    this.ready.splice(0, Infinity, ...this.ready.filter((delivery) => !matches(delivery)));
    for (const delivery of ready) this.complete(delivery);
    return [...behind, ...ready];
  }
}

/** The deliveries that this instance has leased, in memory, and how many more fit. The database has them too, so a
 *  crash loses none. */
export class LeasedDeliveries {
  readonly #limits: EndpointLimits;
  readonly #capacity: Capacity;
  /** By the number of the delivery in the queue. */
  readonly #byPosition = new Map<string, Delivery>();
  readonly #queues = new Map<string, EndpointQueue>();
  #bytes = 0;
  #busyQueues = 0;

  constructor(limits: EndpointLimits, capacity: Capacity) {
    this.#limits = limits;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#byPosition.size;
  }
  /** How many webhooks have leased deliveries. */
  get busyQueues(): number {
    return this.#busyQueues;
  }
  get freeBytes(): number {
    return this.#capacity.bytes - this.#bytes;
  }
  get isScarce(): boolean {
    return this.size > this.#capacity.deliveries * SCARCE || this.#bytes > this.#capacity.bytes * SCARCE;
  }
  positions(): string[] {
    return [...this.#byPosition.keys()];
  }
  queues(): EndpointQueue[] {
    return [...this.#queues.values()];
  }
  /** Unlike `queueOf`, does not create the queue. */
  find(webhookId: string): EndpointQueue | undefined {
    return this.#queues.get(webhookId);
  }
  queueOf(webhookId: string): EndpointQueue {
    const queue = this.find(webhookId) ?? new EndpointQueue(webhookId, this.#limits);
    this.#queues.set(webhookId, queue);
    return queue;
  }

  /** Adds a delivery and returns its queue. Null if an earlier lease of it is here: its attempt still runs. */
  add(delivery: Delivery): EndpointQueue | null {
    if (this.#byPosition.has(delivery.position)) return null;
    const queue = this.queueOf(delivery.webhookId);
    this.#byPosition.set(delivery.position, delivery);
    this.#bytes += delivery.event.body.length;
    queue.add(delivery);
    if (queue.leased === 1) this.#busyQueues += 1;
    return queue;
  }

  /** Does nothing for a delivery that is not here, or that was leased again since. */
  remove(delivery: Delivery): void {
    if (this.#byPosition.get(delivery.position) !== delivery) return;
    this.#byPosition.delete(delivery.position);
    this.#bytes -= delivery.event.body.length;
    const queue = this.queueOf(delivery.webhookId);
    queue.leased -= 1;
    if (queue.leased === 0) this.#busyQueues -= 1;
  }

  /** Evicts the queues of endpoints that have been idle for long. */
  evictStale(nowMs: number): void {
    for (const [webhookId, { leased, endpoint }] of this.#queues)
      if (leased === 0 && endpoint.isStale(nowMs)) this.#queues.delete(webhookId);
  }

  /** How many more deliveries of a webhook fit. */
  #roomFor(webhookId: string, nowMs: number): number {
    const { endpoint, leased } = this.queueOf(webhookId);
    const share = endpoint.capacityShare(nowMs);
    // An endpoint gets memory only while less than its share of all memory is used, by whatever endpoints.
    if (this.#bytes >= this.#capacity.bytes * share) return 0;
    const free = Math.floor(this.#capacity.deliveries * share) - this.size;
    return Math.max(0, Math.min(endpoint.bufferSize(nowMs) - leased, free));
  }

  /** How many more deliveries to claim for a webhook: none until half of its buffer is free, so that claims are few and
   *  large. */
  demandOf(webhookId: string, nowMs: number): number {
    const room = this.#roomFor(webhookId, nowMs);
    return room * 2 >= this.queueOf(webhookId).endpoint.bufferSize(nowMs) ? room : 0;
  }

  /** Returns a function that decides for new deliveries, one after another, whether they fit. Once it refuses a
   *  webhook, it refuses all later deliveries of it: a later event of an order must not be leased here when an earlier
   *  one is not. */
  admission(nowMs: number): (webhookId: string, bytes: number) => boolean {
    const admitted = new Map<string, number>();
    let total = 0;
    let totalBytes = 0;
    return (webhookId, bytes) => {
      const ofWebhook = admitted.get(webhookId) ?? 0;
      const room = Math.min(this.#roomFor(webhookId, nowMs) - ofWebhook, this.#capacity.deliveries - this.size - total);
      const fits = room > 0 && totalBytes < this.freeBytes;
      admitted.set(webhookId, fits ? ofWebhook + 1 : Infinity);
      if (fits) {
        total += 1;
        totalBytes += bytes;
      }
      return fits;
    };
  }
}
