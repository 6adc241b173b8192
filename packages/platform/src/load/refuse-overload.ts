import { AppError } from '@cpg/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { AnyApp } from '../http/any-app.ts';
import { errorBody } from '../http/http-errors.ts';
import type { EndRequest } from './concurrency-limit.ts';
import type { Logger } from '../log/logger.ts';
import { sendUnavailable } from '../http/send-unavailable.ts';
import type { LoadClass, LoadLimits } from './load-class.ts';
import { addLoadMetrics } from './metrics.ts';
import { createOverloadLog } from './overload-log.ts';

export interface RefuseOverloadOptions {
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
