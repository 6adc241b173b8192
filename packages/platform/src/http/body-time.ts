import { AppError } from '@cpg/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyApp } from './any-app.ts';

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
