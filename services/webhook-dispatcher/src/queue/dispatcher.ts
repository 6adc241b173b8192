import type { Logger } from '@cpg/platform';
import type { EndpointLimits, EndpointReport } from '../attempts/endpoint.ts';
import type { Sender } from '../attempts/send.ts';
import type { Attempt, Delivery, Result } from '../delivery/delivery.ts';
import { resultOf, type Schedule } from '../delivery/schedule.ts';
import { headersOf } from '../delivery/sign.ts';
import type { Directory } from '../webhooks/directory.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { type Capacity, type EndpointQueue, LeasedDeliveries } from './leased-deliveries.ts';

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

/** Makes the attempts of the deliveries that this instance has leased: within each endpoint's concurrency limit and a
 *  fair part of all slots, and first attempts of one order and webhook one after another.
 *
 *  An attempt keeps its slot until its result is durable: so a crash repeats at most `capacity.attempts` attempts, and a
 *  slow database slows attempts down instead of filling memory. Slow attempts give their slot back, since they only
 *  wait. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #nowMs: () => number;
  readonly #leased: LeasedDeliveries;
  /** Start times of attempts in flight that have a slot, oldest first. */
  readonly #running = new Map<Delivery, number>();
  readonly #unrecorded = new Set<Delivery>();
  /** Endpoints that wait for a slot, longest wait first. */
  readonly #waitingForSlot = new Set<EndpointQueue>();
  readonly #requeued: Delivery[] = [];
  /** Webhooks whose waiting deliveries are to be requeued, and whether test deliveries are among them. */
  readonly #requeuedWebhooks = new Map<string, boolean>();
  #inFlight = 0;
  #isStopping = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#leased = new LeasedDeliveries(options.limits, options.capacity);
  }

  /** Adds deliveries that were just leased, in the order of their positions, and starts what may start. */
  accept(deliveries: readonly Delivery[]): void {
    const queues = new Set<EndpointQueue>();
    for (const delivery of deliveries) {
      const queue = this.#leased.add(delivery);
      if (queue) queues.add(queue);
      else this.#requeue(delivery);
    }
    for (const queue of queues) this.#run(queue);
  }

  /** Removes deliveries whose result is durable, or whose lease is released. */
  release(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) {
      this.#leased.remove(delivery);
      if (this.#freeSlot(delivery)) this.#useFreeSlot();
    }
  }

  /** Removes the waiting deliveries of deleted orders. Their rows no longer exist. */
  dropOrders(orderIds: ReadonlySet<string>): void {
    if (orderIds.size > 0) this.release(this.#cancelWaiting(({ orderId }) => orderIds.has(orderId)));
  }

  /** Removes all waiting deliveries after the leases expired. Attempts in flight continue. */
  dropWaiting(): void {
    this.release(this.#cancelWaiting(() => true));
  }

  /** Starts what has become possible with time, and frees the memory of endpoints that no longer need it. */
  tick(): void {
    const nowMs = this.#nowMs();
    for (const [delivery, startedMs] of this.#running) {
      if (nowMs - startedMs < this.#options.limits.slowMs) break;
      this.#running.delete(delivery);
    }
    const { isScarce } = this.#leased;
    for (const queue of this.#leased.queues()) {
      this.#run(queue);
      if (isScarce && isOverBuffered(queue, nowMs)) this.#requeueWaitingOf(queue);
    }
    this.#leased.evictStale(nowMs);
    if (this.#requeued.length > 0 || this.#requeuedWebhooks.size > 0) this.#options.onRequeue();
  }

  /** Cancels the next attempts of all deliveries to be requeued, and returns these. Call it while no other lease change
   *  runs: until then they keep their place in the order, and later deliveries of their orders wait behind them. */
  takeRequeued(): Delivery[] {
    const waiting = this.#isStopping
      ? this.#cancelWaiting(() => true)
      : [...this.#requeuedWebhooks].flatMap(
          ([id, withTests]) => this.#leased.find(id)?.cancelWaiting(({ isTest }) => withTests || !isTest) ?? [],
        );
    this.#requeuedWebhooks.clear();
    return [...this.#requeued.splice(0), ...waiting];
  }

  /** Requeues what waits and leases nothing more. Attempts in flight have `withinMs` to end; then they are aborted and
   *  requeued. */
  async stop(withinMs: number): Promise<void> {
    this.#isStopping = true;
    this.#options.onRequeue();
    const deadline = performance.now() + withinMs;
    while (this.#inFlight > 0 && performance.now() < deadline) await new Promise((done) => setTimeout(done, 20));
    this.#options.sender.abort();
    while (this.#inFlight > 0) await new Promise((done) => setTimeout(done, 5));
  }

  /** How many more deliveries to claim for a webhook. */
  demandOf(webhookId: string): number {
    return this.#isStopping ? 0 : this.#leased.demandOf(webhookId, this.#nowMs());
  }
  /** See `LeasedDeliveries.admission`. */
  admission(): (webhookId: string, bytes: number) => boolean {
    return this.#isStopping ? () => false : this.#leased.admission(this.#nowMs());
  }
  freeDeliveries(): number {
    return this.#options.capacity.deliveries - this.#leased.size;
  }
  freeBytes(): number {
    return this.#leased.freeBytes;
  }
  isOpen(webhookId: string): boolean {
    return this.#leased.find(webhookId)?.endpoint.state(this.#nowMs()) === 'open';
  }
  positions(): string[] {
    return this.#leased.positions();
  }
  counts(): { leased: number; inFlight: number } {
    return { leased: this.#leased.size, inFlight: this.#inFlight };
  }
  webhookIds(): string[] {
    return this.#leased.queues().flatMap(({ webhookId, leased }) => (leased > 0 ? [webhookId] : []));
  }
  endpoints(): EndpointReport[] {
    const nowMs = this.#nowMs();
    return this.#leased.queues().map(({ webhookId, endpoint }) => ({
      webhookId,
      state: endpoint.state(nowMs),
      openForMs: Math.max(0, endpoint.openUntil() - nowMs),
    }));
  }

  /** Starts the attempts of an endpoint that may start now. Returns whether it started any. */
  #run(queue: EndpointQueue): boolean {
    const { capacity, mayAttempt } = this.#options;
    let started = false;
    while (!this.#isStopping && mayAttempt() && queue.ready.length > 0) {
      const fairConcurrency = Math.max(1, Math.floor(capacity.attempts / Math.max(1, this.#leased.busyQueues)));
      if (!queue.endpoint.mayStart(this.#nowMs(), fairConcurrency)) break;
      if (!this.#hasSlot(queue)) {
        this.#waitingForSlot.add(queue);
        break;
      }
      if (!this.#startNext(queue)) break;
      started = true;
    }
    return started;
  }

  /** Starts the next attempt of a queue. Returns false, and requeues what waits, if nothing may be sent to the
   *  webhook. */
  #startNext(queue: EndpointQueue): boolean {
    const webhook = this.#options.webhooks.get(queue.webhookId);
    const isDisabled = webhook?.isEnabled === false && !queue.ready[0]!.isTest;
    // The cached webhook may be outdated: the next claim reads it again and decides.
    if (webhook === undefined || isDisabled || (webhook !== null && !this.#canSign(webhook, queue))) {
      this.#requeueWaitingOf(queue, { withTests: !isDisabled });
      return false;
    }
    const delivery = queue.ready.shift()!;
    if (webhook === null || delivery.event.body.length === 0)
      this.#end(queue, { delivery, attempt: null, status: 'failed', nextAt: null });
    else void this.#attempt(queue, webhook, delivery);
    return true;
  }

  /** Whether the secrets of a webhook can be decrypted. If not, no attempt is spent: it is no fault of the endpoint.
   *  The circuit breaker spaces out the next tries. */
  #canSign(webhook: Webhook, { endpoint, ready }: EndpointQueue): boolean {
    try {
      webhook.keys(this.#options.now());
      return true;
    } catch (error) {
      if (endpoint.fail(ready[0]!, this.#nowMs()))
        this.#options.log.error(
          { err: error, webhookId: webhook.id },
          'deliveries wait: a secret of their webhook cannot be decrypted',
        );
      return false;
    }
  }

  async #attempt(queue: EndpointQueue, webhook: Webhook, delivery: Delivery): Promise<void> {
    const { endpoint } = queue;
    const startedMs = this.#nowMs();
    this.#inFlight += 1;
    endpoint.start(delivery, startedMs);
    this.#running.set(delivery, startedMs);
    const attempt = await this.#send(webhook, delivery);
    this.#inFlight -= 1;
    if (!attempt) {
      endpoint.abort(delivery);
      this.#freeSlot(delivery);
      this.#requeue(delivery);
      this.#useFreeSlot();
      return;
    }
    this.#running.delete(delivery);
    this.#unrecorded.add(delivery);
    let openedBreaker = false;
    if (attempt.outcome === 'delivered') endpoint.succeed(delivery);
    else openedBreaker = endpoint.fail(delivery, this.#nowMs());
    this.#end(queue, resultOf(delivery, attempt, { ...this.#options, now: this.#options.now() }));
    if (openedBreaker) this.#requeueWaitingOf(queue);
  }

  /** Signs and sends a delivery once. Never rejects. Null when the sender was aborted. */
  async #send(webhook: Webhook, delivery: Delivery): Promise<Attempt | null> {
    const { sender, now, log } = this.#options;
    const startedAt = now();
    try {
      const headers = headersOf(delivery, webhook.keys(startedAt), startedAt);
      return await sender.post({ webhookId: webhook.id, url: webhook.url, headers, body: delivery.event.body });
    } catch (error) {
      log.error({ err: error, webhookId: webhook.id }, 'delivery could not be signed or sent');
      return { outcome: 'blocked', startedAt, durationMs: 0, error: 'the delivery could not be signed or sent' };
    }
  }

  #end(queue: EndpointQueue, result: Result): void {
    queue.complete(result.delivery);
    this.#options.onResult(result);
    this.#run(queue);
  }

  #hasSlot({ endpoint }: EndpointQueue): boolean {
    const used = this.#running.size + this.#unrecorded.size;
    return used < this.#options.capacity.attempts * endpoint.capacityShare(this.#nowMs());
  }
  #freeSlot(delivery: Delivery): boolean {
    return this.#unrecorded.delete(delivery) || this.#running.delete(delivery);
  }
  /** Gives a slot that became free to the first waiting endpoint that may use it. */
  #useFreeSlot(): void {
    for (const queue of this.#waitingForSlot) {
      if (!this.#hasSlot(queue)) continue;
      this.#waitingForSlot.delete(queue);
      if (this.#run(queue)) return;
    }
  }

  /** Cancels the next attempt of the waiting deliveries that match. They stay in memory until `release`. */
  #cancelWaiting(matches: (delivery: Delivery) => boolean): Delivery[] {
    return this.#leased.queues().flatMap((queue) => queue.cancelWaiting(matches));
  }
  #requeue(delivery: Delivery): void {
    this.#requeued.push(delivery);
    this.#options.onRequeue();
  }
  /** Lists the deliveries that wait for a webhook at the time of `takeRequeued`. */
  #requeueWaitingOf({ webhookId }: EndpointQueue, { withTests = true } = {}): void {
    this.#requeuedWebhooks.set(webhookId, withTests || this.#requeuedWebhooks.get(webhookId) === true);
    this.#options.onRequeue();
  }
}

/** Whether an endpoint that became slow still has the buffer of a fast one. */
const isOverBuffered = ({ endpoint, leased }: EndpointQueue, nowMs: number): boolean =>
  leased - endpoint.inFlight() > 2 * endpoint.bufferSize(nowMs);
