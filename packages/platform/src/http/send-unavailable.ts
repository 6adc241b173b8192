import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The page of a 503 that bypasses onSend; null for a client that takes JSON. */
    unavailablePage?: (request: FastifyRequest, retryAfterSeconds: number) => UnavailablePage | null;
  }
}

interface UnavailablePage {
  readonly html: string;
  readonly headers: OutgoingHttpHeaders;
}

const RETRY_AFTER_SECONDS = 1;

/** Sends 503 with a JSON body, or the page of the route, past the onSend hooks. */
export const sendUnavailable = (reply: FastifyReply, json: string): void => {
  const { request } = reply;
  const page = request.routeOptions.config?.unavailablePage?.(request, RETRY_AFTER_SECONDS);
  const body = page?.html ?? json;
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.hijack();
  reply.raw
    .writeHead(503, {
      ...headers,
      ...page?.headers,
      'retry-after': String(RETRY_AFTER_SECONDS),
      'content-type': page ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
};
