import { isTransientDatabaseError } from '@cpg/platform/postgres';
import { type Logger, retry } from '@cpg/platform';
import type { Result } from '../delivery/delivery.ts';

export interface RecorderOptions {
  readonly write: (results: readonly Result[]) => Promise<void>;
  readonly onRecorded: (results: readonly Result[]) => void;
  readonly log: Logger;
  /** A batch is written when its first result is this old, or when it has `enough` results. */
  readonly gatherMs?: number;
  readonly enough?: number;
  /** Results per commit at most. */
  readonly maxBatch?: number;
}

/** Records results in batches, one at a time, and logs them. Retries while the database is unavailable. */
export const createRecorder = (options: RecorderOptions) => {
  const { onRecorded, gatherMs = 50, enough = 32, maxBatch = 500 } = options;
  let waiting: Result[] = [];
  let waitingSince = 0;
  let writing = 0;
  let isRunning = false;
  let flushed: (() => void)[] = [];
  let endGathering = () => {};

  const gather = () =>
    new Promise<void>((done) => {
      const leftMs = gatherMs - (performance.now() - waitingSince);
      if (waiting.length >= enough || leftMs <= 0) return done();
      const timer = setTimeout(done, leftMs);
      endGathering = () => {
        clearTimeout(timer);
        done();
      };
    });
  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      await gather();
      const results = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      writing = results.length;
      await writeOrDiscard(results, options);
      writing = 0;
      onRecorded(results);
      logOutcomes(results, options.log);
    }
    isRunning = false;
    for (const done of flushed) done();
    flushed = [];
  };
  return {
    push: (result: Result) => {
      if (waiting.length === 0) waitingSince = performance.now();
      waiting.push(result);
      if (waiting.length === enough) endGathering();
      if (!isRunning) void run();
    },
    /** How many results are not durable yet. */
    pending: () => waiting.length + writing,
    /** Resolves once every pushed result is durable or discarded. */
    flush: () =>
      new Promise<void>((done) => {
        if (isRunning) flushed.push(done);
        else done();
      }),
  };
};

/** Writes results. If that fails for another reason than an outage, writes them one by one and discards those that fail
 *  again: their attempts are repeated later. */
const writeOrDiscard = async (results: readonly Result[], options: RecorderOptions): Promise<void> => {
  const { write, log } = options;
  try {
    await retry(() => write(results), {
      firstMs: 20,
      maxMs: 1_000,
      onError: (error) => {
        log.warn({ err: error, results: results.length }, 'recording attempts failed');
        if (!isTransientDatabaseError(error)) throw error;
      },
    });
  } catch (error) {
    if (results.length > 1) {
      for (const result of results) await writeOrDiscard([result], options);
      return;
    }
    log.error(
      { err: error, deliveryId: results[0]?.delivery.id },
      'an attempt cannot be recorded and will be repeated',
    );
  }
};

/** Writes one log line per result: ids, outcome and reason. Never bodies, signatures or responses. Deliveries that
 *  succeed are for debugging. */
export const logOutcomes = (results: readonly Result[], log: Logger): void => {
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
