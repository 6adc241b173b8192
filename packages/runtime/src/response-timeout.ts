import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyApp } from './any-app.ts';
import { sendUnavailable } from './send-unavailable.ts';

/** Answers 503 when a request has no response after `ms`, whether it waits in a hook, for its body or in its handler.
 *  A later result of the handler is discarded. onSend hooks do not run for the 503, onResponse hooks do.
 *  (Fastify's `handlerTimeout` stops counting once the body is read, and sends even if a response is on its way.) */
export const limitResponseTime = (app: AnyApp, ms: number, renderBody: (request: FastifyRequest) => string): void => {
  const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, next) => {
    const onTimeout = () => {
      const canAnswer = !reply.raw.closed && !reply.raw.headersSent;
      if (canAnswer) sendUnavailable(reply, renderBody(request));
    };
    timers.set(request, setTimeout(onTimeout, ms).unref());
    next();
  });
  app.addHook('onSend', (request: FastifyRequest, _reply: FastifyReply, payload, next) => {
    clearTimeout(timers.get(request));
    next(null, payload);
  });
  // A response that bypasses onSend.
  app.addHook('onResponse', (request: FastifyRequest, _reply: FastifyReply, next) => {
    clearTimeout(timers.get(request));
    next();
  });
};
