import { AppError } from '@cpg/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { AnyApp } from '../http/any-app.ts';
import { errorBody, sendUnavailable } from '../http/http-errors.ts';
import type { Logger } from '../log/logger.ts';
import type { ConcurrencyLimit, EndRequest } from './concurrency-limit.ts';

/** Each class has a limit of its own, so that none can use up the room of another. Under overload, `create` is refused
 *  first and `health` never. `page` and `callback` are for payers and payment providers, who have no key; `keyless` is
 *  every other request without a verified key. A `stream` has its own limits. */
export type LoadClass = 'create' | 'normal' | 'page' | 'callback' | 'keyless' | 'health' | 'stream';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: `normal`. */
    load?: LoadClass;
  }
}

/** Limits by the class of the route. */
export type LoadLimits = Partial<Record<LoadClass, ConcurrencyLimit>>;

interface RefuseOverloadOptions {
  /** Requests of a class without a limit are always admitted. */
  readonly limits: LoadLimits;
  /** Whose request it is. Runs before the request is authenticated. */
  readonly ownerOf: (request: FastifyRequest) => string;
  /** The class of a request to a route of this class. Default: that of the route. */
  readonly classOf?: (request: FastifyRequest, routeClass: LoadClass) => LoadClass;
  readonly log: Pick<Logger, 'warn'>;
  /** Gets the metrics of the limits. */
  readonly metrics?: Registry | undefined;
}

/** Longer than a request runs: its place is free again even if its handler never ends. */
const FORGET_AFTER_MS = 15_000;

/** Answers 503 `overloaded` while the limit of a route's class is reached. Register it before the
 *  hooks that cost time: a refusal must be cheap, so it does not run later hooks and does not read
 *  the body. */
export const refuseOverload = (app: AnyApp, options: RefuseOverloadOptions): void => {
  const { limits, ownerOf, classOf, log, metrics } = options;
  const overload = createOverloadLog(log);
  if (metrics) addLoadMetrics(metrics, limits, overload);
  const admitted = new WeakMap<FastifyRequest, EndRequest>();
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, next) => {
    const routeClass = request.routeOptions.config?.load ?? 'normal';
    const loadClass = classOf?.(request, routeClass) ?? routeClass;
    const limit = limits[loadClass];
    if (!limit) return next();
    const end = limit.admit(ownerOf(request));
    if (!end) {
      overload.refused(loadClass);
      const body = JSON.stringify(errorBody(OVERLOADED, request.id));
      return sendUnavailable(reply.header('x-request-id', request.id), body);
    }
    admitted.set(request, end);
    reply.raw.once('close', () => {
      // The client left, and the handler still runs.
      if (!reply.raw.writableFinished) setTimeout(end, FORGET_AFTER_MS, 'failed').unref();
    });
    next();
  });
  app.addHook('onSend', (request: FastifyRequest, reply: FastifyReply, payload, next) => {
    admitted.get(request)?.(reply.statusCode < 400 ? 'done' : 'failed', request.bodyWaitMs);
    next(null, payload);
  });
  // The timeout of the response bypasses onSend: such a latency counts.
  app.addHook('onResponse', (request: FastifyRequest, _reply: FastifyReply, next) => {
    admitted.get(request)?.(request.waitsForBody ? 'failed' : 'late', request.bodyWaitMs);
    next();
  });
};

const OVERLOADED = new AppError('overloaded', 'the service has too many requests in progress: nothing was done');

/** Adds the metrics of the limits and of what they refused, each by the class of the route. */
const addLoadMetrics = (registry: Registry, limits: LoadLimits, overload: Pick<OverloadLog, 'totals'>): void => {
  const metric = (name: string, help: string) => ({ name, help, labelNames: ['class'], registers: [registry] });
  new Counter({
    ...metric('overload_refused_total', 'Requests refused because the service was full'),
    collect() {
      this.reset();
      for (const [loadClass, refused] of overload.totals()) this.inc({ class: loadClass }, refused);
    },
  });
  new Gauge({
    ...metric('concurrency_limit', 'Most requests in progress that the service admits now'),
    collect() {
      for (const [loadClass, { limit }] of Object.entries(limits)) this.set({ class: loadClass }, limit());
    },
  });
  new Gauge({
    ...metric('requests_in_progress', 'Admitted requests that have not ended'),
    collect() {
      for (const [loadClass, { inProgress }] of Object.entries(limits)) this.set({ class: loadClass }, inProgress());
    },
  });
};

interface OverloadLog {
  /** Counts a refused request. */
  readonly refused: (loadClass: LoadClass) => void;
  /** Refused requests by class since the start. */
  readonly totals: () => ReadonlyMap<LoadClass, number>;
}

interface OverloadLogOptions {
  readonly nowMs?: () => number;
  readonly later?: (run: () => void, ms: number) => void;
}

const QUIET_MS = 5_000;

const laterUnref = (run: () => void, ms: number): void => void setTimeout(run, ms).unref();

/** Logs each overload twice: when it begins, and once nothing was refused for 5 s, with its time and the number of
 *  refused requests. */
export const createOverloadLog = (
  log: { readonly warn: (fields: object, message: string) => void },
  { nowMs = () => performance.now(), later = laterUnref }: OverloadLogOptions = {},
): OverloadLog => {
  const totals = new Map<LoadClass, number>();
  let overload: { readonly beganMs: number; lastMs: number; refused: number } | null = null;

  const endWhenQuiet = () => {
    const { beganMs, lastMs, refused } = overload!;
    const quietMs = nowMs() - lastMs;
    if (quietMs < QUIET_MS) return later(endWhenQuiet, QUIET_MS - quietMs);
    overload = null;
    log.warn({ overloadMs: Math.round(lastMs - beganMs), refused }, 'overload ended');
  };
  return {
    refused: (loadClass) => {
      totals.set(loadClass, (totals.get(loadClass) ?? 0) + 1);
      if (!overload) {
        overload = { beganMs: nowMs(), lastMs: nowMs(), refused: 0 };
        log.warn({ loadClass }, 'overload began');
        later(endWhenQuiet, QUIET_MS);
      }
      overload.lastMs = nowMs();
      overload.refused += 1;
    },
    totals: () => totals,
  };
};
