import { counterMetric, type Logger, type MetricsRegistry } from '@cpg/platform';
import { isTransientDatabaseError } from '@cpg/platform/postgres';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { LoggedRequest } from './logged-requests.ts';

const FLUSH_INTERVAL_MS = 1_000;
/** More rows than these are not kept in memory. */
const MAX_WAITING = 10_000;
/** Bounds the duration of one statement. */
const MAX_BATCH = 1_000;

export interface RequestLog {
  /** Never waits and never throws. */
  readonly record: (request: LoggedRequest) => void;
  /** Stops the timer and writes the rows that wait. */
  readonly stop: () => Promise<void>;
}

export interface RequestLogOptions {
  readonly write: (requests: readonly LoggedRequest[]) => Promise<void>;
  readonly metrics?: MetricsRegistry | undefined;
  readonly log: Logger;
  readonly everyMs?: number;
  readonly maxWaiting?: number;
  readonly maxBatch?: number;
}

/** Collects requests, and writes them in batches. A batch that fails because the database is unavailable is retried;
 *  another one is dropped. When too many rows wait, new ones are dropped: a lost row loses no money, and a slow database
 *  must slow no request. The metric `request_log_dropped_total` counts them. */
export const createRequestLog = ({
  write,
  metrics,
  log,
  everyMs = FLUSH_INTERVAL_MS,
  maxWaiting = MAX_WAITING,
  maxBatch = MAX_BATCH,
}: RequestLogOptions): RequestLog => {
  const countDropped = counterMetric(metrics, {
    name: 'request_log_dropped_total',
    help: 'Requests that merchants do not see in their request log, because they could not be stored',
    labelNames: [],
    known: [{}],
  });
  const waiting: LoggedRequest[] = [];
  /** Returns whether the next batch may follow. */
  const writeBatch = async (): Promise<boolean> => {
    const batch = waiting.slice(0, maxBatch);
    try {
      await write(batch);
    } catch (error) {
      const isTransient = isTransientDatabaseError(error);
      log.warn({ err: error }, isTransient ? 'could not store requests, will retry' : 'could not store requests');
      if (isTransient) return false;
      countDropped({}, batch.length);
    }
    waiting.splice(0, batch.length);
    return true;
  };
  const writeWaiting = async () => {
    while (waiting.length > 0 && (await writeBatch()));
  };
  // One after another: a row stays in `waiting` until its write has ended.
  let writing = Promise.resolve();
  const flush = (): Promise<void> => (writing = writing.then(writeWaiting));
  const timer = setInterval(() => void flush(), everyMs);
  timer.unref();
  return {
    record: (request) => {
      if (waiting.length < maxWaiting) waiting.push(request);
      else countDropped({}, 1);
    },
    stop: async () => {
      clearInterval(timer);
      await flush();
      countDropped({}, waiting.splice(0).length);
    },
  };
};

const READS = new Set(['GET', 'HEAD']);

/** Records each answered request of `app` that a key or a user authenticated. Reads of users are left out: an open page
 *  of the dashboard repeats them every few seconds. Register it before authentication. */
export const recordRequests = (
  app: FastifyInstance,
  { requestLog, now }: { readonly requestLog?: Pick<RequestLog, 'record'> | undefined; readonly now: () => Date },
): void => {
  if (!requestLog) return;
  app.addHook('onResponse', async (request, { statusCode, elapsedTime }) => {
    const author = authorOf(request);
    if (!author) return;
    const durationMs = Math.round(elapsedTime);
    requestLog.record({
      ...author,
      id: request.id,
      method: request.method,
      path: request.url.split('?')[0]!,
      status: statusCode,
      code: request.errorCode,
      duration_ms: durationMs,
      address: request.ip,
      created_at: new Date(now().getTime() - durationMs),
    });
  });
};

const authorOf = ({ caller, method }: FastifyRequest) => {
  if (!caller) return null;
  const { merchantId: merchant_id } = caller;
  if (caller.by === 'key') return { merchant_id, api_key_id: caller.keyId, user_id: null };
  return READS.has(method) ? null : { merchant_id, api_key_id: null, user_id: caller.session.user_id };
};
