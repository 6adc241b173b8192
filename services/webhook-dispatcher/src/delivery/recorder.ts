import { isTransientDatabaseError } from '@cpg/postgres';
import { type Logger, retry } from '@cpg/runtime';
import type { Result } from './delivery.ts';

export interface Recorder {
  readonly push: (result: Result) => void;
  /** Results that are not durable yet. */
  readonly pending: () => number;
  /** Resolves once all that was pushed is durable, or given up. */
  readonly flush: () => Promise<void>;
}

export interface RecorderOptions {
  readonly write: (results: readonly Result[]) => Promise<void>;
  readonly onRecorded: (results: readonly Result[]) => void;
  readonly log: Logger;
  /** How long a result waits for others to share its commit, and for how many. */
  readonly gatherMs?: number;
  readonly enough?: number;
  /** Results of one commit at most. */
  readonly batch?: number;
}

/** Records results many at a time: what comes in while one commit runs shares the next. It goes on through an outage of the database. */
export const createRecorder = (options: RecorderOptions): Recorder => {
  const { write, onRecorded, log, gatherMs = 20, enough = 32, batch = 500 } = options;
  let waiting: Result[] = [];
  let waitingSince = 0;
  let writing = 0;
  let running = false;
  let idle: (() => void)[] = [];
  let goOn = () => {};

  const writeDown = (results: readonly Result[]): Promise<void> =>
    retry(() => write(results), {
      firstMs: 20,
      maxMs: 1_000,
      onError: (error) => {
        log.warn({ err: error, results: results.length }, 'attempts could not be recorded');
        if (!isTransientDatabaseError(error)) throw error;
      },
    });
  const writeAll = async (results: readonly Result[]): Promise<void> => {
    try {
      await writeDown(results);
    } catch (error) {
      if (results.length > 1) {
        // One of them cannot be written: the others shall not suffer.
        for (const result of results) await writeAll([result]);
        return;
      }
      log.error(
        { err: error, deliveryId: results[0]?.delivery.id },
        'an attempt cannot be recorded: it will be made again',
      );
    }
  };
  const gather = () =>
    new Promise<void>((done) => {
      const leftMs = gatherMs - (performance.now() - waitingSince);
      if (waiting.length >= enough || leftMs <= 0) return done();
      const timer = setTimeout(done, leftMs);
      goOn = () => {
        clearTimeout(timer);
        done();
      };
    });
  const run = async () => {
    running = true;
    while (waiting.length > 0) {
      await gather();
      const results = waiting.slice(0, batch);
      waiting = waiting.slice(batch);
      writing = results.length;
      await writeAll(results);
      writing = 0;
      onRecorded(results);
    }
    running = false;
    for (const done of idle) done();
    idle = [];
  };
  return {
    push: (result) => {
      if (waiting.length === 0) waitingSince = performance.now();
      waiting.push(result);
      if (waiting.length === enough) goOn();
      if (!running) void run();
    },
    pending: () => waiting.length + writing,
    flush: () =>
      new Promise((done) => {
        if (running) idle.push(done);
        else done();
      }),
  };
};
