import type { Logger } from '@cpg/platform';
import type { Directory } from '../webhooks/directory.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { makeAttempt, resultOf } from '../attempts/attempt.ts';
import type { AttemptSlots } from './attempt-slots.ts';
import type { Delivery, Result } from '../delivery/delivery.ts';
import type { EndpointQueue } from './lease-store.ts';
import type { RequeueList } from './requeue-list.ts';
import type { Schedule } from '../delivery/schedule.ts';
import type { Sender } from '../attempts/send.ts';

export interface AttemptRunnerOptions {
  readonly sender: Pick<Sender, 'post' | 'abort'>;
  readonly webhooks: Pick<Directory, 'get'>;
  readonly slots: AttemptSlots;
  readonly requeues: RequeueList;
  readonly schedule: Schedule;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly log: Logger;
  readonly onEnded: (queue: EndpointQueue, result: Result) => void;
  /** An attempt was aborted, and its delivery requeued as it was before. */
  readonly onAborted: () => void;
}

/** Runs attempts. Updates slots and endpoint health when they start and end, and requeues what may not be sent now. */
export const createAttemptRunner = (options: AttemptRunnerOptions) => {
  const { sender, webhooks, slots, requeues, now, nowMs, log, onEnded, onAborted } = options;
  let inFlight = 0;

  const run = async (queue: EndpointQueue, webhook: Webhook, delivery: Delivery): Promise<void> => {
    const { endpoint } = queue;
    const startedMs = nowMs();
    inFlight += 1;
    endpoint.start(delivery, startedMs);
    slots.take(delivery, startedMs);
    const attempt = await makeAttempt(webhook, delivery, options);
    inFlight -= 1;
    if (!attempt) {
      endpoint.abort(delivery);
      slots.free(delivery);
      requeues.add([delivery]);
      onAborted();
      return;
    }
    slots.holdUntilRecorded(delivery);
    let openedBreaker = false;
    if (attempt.outcome === 'delivered') endpoint.succeed(delivery);
    else openedBreaker = endpoint.fail(delivery, nowMs());
    onEnded(queue, resultOf(delivery, attempt, { ...options, now: now() }));
    if (openedBreaker) requeues.addWaitingOf(queue.webhookId, { includeTests: true });
  };
  /** Whether the secrets of a webhook can be decrypted. If not, no attempt is spent: it is no fault of the endpoint. The
   *  circuit breaker spaces out the next tries. */
  const canSign = (webhook: Webhook, { endpoint, ready }: EndpointQueue): boolean => {
    try {
      webhook.keys(now());
      return true;
    } catch (error) {
      if (endpoint.fail(ready[0]!, nowMs()))
        log.error(
          { err: error, webhookId: webhook.id },
          'deliveries wait: a secret of their webhook cannot be decrypted',
        );
      return false;
    }
  };
  return {
    inFlight: () => inFlight,
    /** Starts the next attempt of a queue. Returns false, and requeues what waits, if nothing may be sent to the
     *  webhook. */
    startNext: (queue: EndpointQueue): boolean => {
      const webhook = webhooks.get(queue.webhookId);
      const isDisabled = webhook?.isEnabled === false && !queue.ready[0]!.isTest;
      // The cached webhook may be outdated: the next claim reads it again and decides.
      if (webhook === undefined || isDisabled) {
        requeues.addWaitingOf(queue.webhookId, { includeTests: !isDisabled });
        return false;
      }
      if (webhook !== null && !canSign(webhook, queue)) {
        requeues.addWaitingOf(queue.webhookId, { includeTests: true });
        return false;
      }
      const delivery = queue.ready.shift()!;
      if (webhook === null || delivery.event.body.length === 0)
        onEnded(queue, { delivery, attempt: null, status: 'failed', nextAt: null });
      else void run(queue, webhook, delivery);
      return true;
    },
    /** Waits up to `withinMs` for attempts in flight, then aborts them. */
    drain: async (withinMs: number): Promise<void> => {
      const deadline = performance.now() + withinMs;
      while (inFlight > 0 && performance.now() < deadline) await new Promise((done) => setTimeout(done, 20));
      sender.abort();
      while (inFlight > 0) await new Promise((done) => setTimeout(done, 5));
    },
  };
};
