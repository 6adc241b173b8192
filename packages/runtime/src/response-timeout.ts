import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyApp } from './http.ts';

/** Answers 503 with the body of `refuse` to what has no answer after `ms`, whatever it waits for: a hook, its body, its handler. What comes
 *  of that later goes nowhere; onSend hooks see nothing of it, onResponse hooks do. (Fastify's own `handlerTimeout` forgets the time once
 *  a body has been read, and sends beside an answer that is on its way.) */
export const limitResponseTime = (app: AnyApp, ms: number, refuse: (request: FastifyRequest) => string): void => {
  const alarms = new WeakMap<FastifyRequest, NodeJS.Timeout>();
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, next) => {
    const giveUp = () => {
      const someoneWaits = !reply.raw.closed;
      if (someoneWaits) answerAtOnce(reply, refuse(request));
    };
    alarms.set(request, setTimeout(giveUp, ms));
    next();
  });
  app.addHook('onSend', (request: FastifyRequest, _reply: FastifyReply, payload, next) => {
    clearTimeout(alarms.get(request));
    next(null, payload);
  });
};

const answerAtOnce = (reply: FastifyReply, body: string): void => {
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.hijack();
  reply.raw
    .writeHead(503, {
      ...headers,
      'retry-after': '1',
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
};
