import type { Logger } from '@cpg/platform';
import type { Webhook } from '../webhooks/webhook.ts';
import type { Attempt, Delivery, Result } from '../delivery/delivery.ts';
import { nextAttemptAt, type Schedule } from '../delivery/schedule.ts';
import type { Sender } from './send.ts';
import { headersOf } from '../delivery/sign.ts';

export const GONE = 410;

export interface AttemptOptions {
  readonly sender: Pick<Sender, 'post'>;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Signs and sends a delivery once. Never rejects. Null when the sender was aborted. */
export const makeAttempt = async (
  webhook: Webhook,
  delivery: Delivery,
  { sender, now, log }: AttemptOptions,
): Promise<Attempt | null> => {
  const startedAt = now();
  try {
    const headers = headersOf(delivery, webhook.keys(startedAt), startedAt);
    return await sender.post({ webhookId: webhook.id, url: webhook.url, headers, body: delivery.event.body });
  } catch (error) {
    log.error({ err: error, webhookId: webhook.id }, 'delivery could not be signed or sent');
    return { outcome: 'blocked', startedAt, durationMs: 0, error: 'the delivery could not be signed or sent' };
  }
};

/** The state of a delivery after an attempt: delivered, failed, or pending with the time of the next attempt. 410 Gone
 *  is not retried. */
export const resultOf = (
  delivery: Delivery,
  attempt: Attempt,
  { schedule, now, random }: { schedule: Schedule; now: Date; random: () => number },
): Result => {
  if (attempt.outcome === 'delivered') return { delivery, attempt, status: 'delivered', nextAt: null };
  const { retryAfter, statusCode } = attempt;
  const nextAt =
    statusCode === GONE ? null : nextAttemptAt(schedule, delivery.attempts + 1, { now, random, retryAfter });
  return { delivery, attempt, status: nextAt ? 'pending' : 'failed', nextAt };
};
