import { AppError, INTERNAL_HEADERS } from '@cpg/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyApp } from './any-app.ts';
import { sendUnavailable } from './http-errors.ts';

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

declare module 'fastify' {
  interface FastifyRequest {
    /** How long the service has waited for the body, in ms. */
    bodyWaitMs: number;
    /** Whether the service waits for the rest of the body. */
    waitsForBody: boolean;
  }
}

const GRACE_MS = 2_000;
const SLOWEST_BYTES_PER_MS = 64;

/** Answers 408 when a body takes longer than 2 s and its size at 64 KB/s. A body without a declared length has the time
 *  of what has arrived. Measures how long each body takes: that time is the client's. Register it first. */
export const limitBodyTime = (app: AnyApp, graceMs = GRACE_MS): void => {
  app.decorateRequest('bodyWaitMs', 0);
  app.decorateRequest('waitsForBody', false);
  const began = new WeakMap<FastifyRequest, { readonly atMs: number; readonly end: () => void }>();
  const end = (request: FastifyRequest): void => {
    if (!request.waitsForBody) return;
    const { atMs, end } = began.get(request)!;
    request.bodyWaitMs = performance.now() - atMs;
    request.waitsForBody = false;
    end();
  };

  app.addHook('preParsing', (request: FastifyRequest, reply: FastifyReply, body, next) => {
    const { headers, raw } = request;
    const declared = Number(headers['content-length'] ?? 0);
    if (declared === 0 && headers['transfer-encoding'] === undefined) return next(null, body);
    const atMs = performance.now();
    const before = bytesReadOf(raw);
    const endsAt = () => atMs + graceMs + Math.max(declared, bytesReadOf(raw) - before) / SLOWEST_BYTES_PER_MS;
    let timer: NodeJS.Timeout;
    const check = () => {
      const leftMs = endsAt() - performance.now();
      if (leftMs > 0) return (timer = setTimeout(check, leftMs).unref());
      reply.header('connection', 'close');
      body.emit('error', new AppError('request_timeout', 'the body arrived too slowly: nothing was done'));
      return timer;
    };
    check();
    // Also after the parser has left the stream.
    body.on('error', () => {});
    for (const event of ['end', 'error', 'close']) body.once(event, () => end(request));
    began.set(request, { atMs, end: () => clearTimeout(timer) });
    request.waitsForBody = true;
    next(null, body);
  });
  app.addHook('preValidation', (request: FastifyRequest, _reply: FastifyReply, next) => {
    end(request);
    next();
  });
  // A body that is refused without a read.
  app.addHook('onResponse', (request: FastifyRequest, _reply: FastifyReply, next) => {
    end(request);
    next();
  });
};

const bytesReadOf = ({ socket }: FastifyRequest['raw']): number => socket.bytesRead ?? 0;

declare module 'fastify' {
  interface FastifyRequest {
    /** The value of `performance.now()` after which nobody waits for the response. In the past once the caller has
     *  closed the connection. */
    deadlineMs: number;
  }
}

/** Sets the deadline of each request, and refuses a request whose deadline passed before its handler starts. A closed
 *  connection ends the deadline: the caller may have repeated the request elsewhere, and must not be overtaken. */
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
export const refuseAfterDeadline = ({ deadlineMs = Infinity }: { readonly deadlineMs?: number | undefined }): void => {
  if (performance.now() >= deadlineMs)
    throw new AppError('overloaded', 'the time for the response is over: nothing was done');
};
