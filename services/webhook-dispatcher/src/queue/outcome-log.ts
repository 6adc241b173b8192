import type { Logger } from '@cpg/platform';
import type { Result } from '../delivery/delivery.ts';

/** Writes one log line per result: ids, outcome and reason. Never bodies, signatures or responses. A delivery that
 *  succeeds is no news: its line is for debugging. */
export const createOutcomeLog =
  (log: Logger) =>
  (results: readonly Result[]): void => {
    for (const result of results) {
      const line = lineOf(result);
      if (result.status === 'delivered') log.debug(line, 'delivered');
      else if (result.nextAt)
        log.warn({ ...line, nextAttemptAt: result.nextAt.toISOString() }, 'attempt failed, will retry');
      else if (result.attempt) log.warn(line, 'delivery failed');
      else log.info(line, 'delivery failed without an attempt: webhook deleted or body no longer stored');
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
