import { AppError, INTERNAL_HEADERS } from '@cpg/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyApp } from './any-app.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The value of `performance.now()` after which nobody waits for the response. In the past once the caller has
     *  closed the connection. */
    deadlineMs: number;
  }
}

/** Sets the deadline of each request: the response timeout. It ends when the caller closes the connection: the caller may have repeated the request at another instance since, and sent
 *  later ones there, which this request must not overtake. A request whose deadline passed before its handler starts is
 *  refused. */
export const keepDeadlines = (app: AnyApp, responseTimeoutMs: number): void => {
  app.decorateRequest('deadlineMs', 0);
  app.addHook('onRequest', (request: FastifyRequest, { raw: response }: FastifyReply, next) => {
    request.deadlineMs = performance.now() + responseTimeoutMs;
    response.once('close', () => {
      if (!response.writableFinished) request.deadlineMs = -Infinity;
    });
    next();
  });
  app.addHook('preValidation', (request: FastifyRequest, _reply: FastifyReply, next) => {
    request.deadlineMs += request.bodyWaitMs;
    next();
  });
  app.addHook('preHandler', async (request: FastifyRequest) => refuseAfterDeadline(request));
};

/** Brings the deadline forward if the calling service waits for less time. Only for callers that are authenticated. */
export const obeyCallersDeadline = (request: FastifyRequest): void => {
  const deadlineMs = performance.now() + Number(request.headers[INTERNAL_HEADERS.deadline] ?? Infinity);
  if (deadlineMs < request.deadlineMs) request.deadlineMs = deadlineMs;
};

/** Throws `overloaded` after the deadline. Call it before a step, and never after the request has had an effect. */
export const refuseAfterDeadline = ({ deadlineMs = Infinity }: { readonly deadlineMs?: number }): void => {
  if (performance.now() >= deadlineMs)
    throw new AppError('overloaded', 'the time for the response is over: nothing was done');
};
