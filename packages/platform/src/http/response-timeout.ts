import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyApp } from './any-app.ts';
import { sendUnavailable } from './send-unavailable.ts';

/** Answers 503 when a request has no response `ms` after its headers and its body, whether it waits in a hook or in its
 *  handler: the time for the body has its own limit.
 *  A later result of the handler is discarded. onSend hooks do not run for the 503, onResponse hooks do.
 *  (Fastify's `handlerTimeout` stops counting once the body is read, and sends even if a response is on its way.) */
export const limitResponseTime = (app: AnyApp, ms: number, renderBody: (request: FastifyRequest) => string): void => {
  const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();
  const start = (request: FastifyRequest, reply: FastifyReply) => {
    const onTimeout = () => {
      const canAnswer = !reply.raw.closed && !reply.raw.headersSent;
      if (canAnswer) sendUnavailable(reply, renderBody(request));
    };
    timers.set(request, setTimeout(onTimeout, ms).unref());
  };
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, next) => {
    start(request, reply);
    next();
  });
  app.addHook('preParsing', (request: FastifyRequest, _reply: FastifyReply, body, next) => {
    if (request.waitsForBody) clearTimeout(timers.get(request));
    next(null, body);
  });
  app.addHook('preValidation', (request: FastifyRequest, reply: FastifyReply, next) => {
    if (request.bodyWaitMs > 0) start(request, reply);
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
