import type { Logger } from '@cpg/runtime';
import type { Result } from './delivery.ts';

/** Writes a line for each result: what it was about, how it ended and why. Never what was sent or answered. */
export const outcomeLog =
  (log: Logger) =>
  (results: readonly Result[]): void => {
    for (const result of results) {
      const line = lineOf(result);
      if (result.status === 'delivered') log.info(line, 'delivered');
      else if (result.nextAt)
        log.warn({ ...line, nextAttemptAt: result.nextAt.toISOString() }, 'not delivered, to be tried again');
      else if (result.attempt) log.warn(line, 'not delivered, and given up');
      else log.info(line, 'dropped: the webhook is off or gone, or the body is no longer kept');
    }
  };

const lineOf = ({ delivery, attempt }: Result) => ({
  deliveryId: delivery.id,
  webhookId: delivery.webhookId,
  eventId: delivery.event.id,
  orderId: delivery.orderId,
  ...(attempt && {
    attempt: (delivery.attemptsBefore ?? 0) + delivery.attempts + 1,
    outcome: attempt.outcome,
    statusCode: attempt.statusCode,
    durationMs: attempt.durationMs,
    reason: attempt.error,
  }),
});
