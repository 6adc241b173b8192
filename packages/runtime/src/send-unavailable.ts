import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Sends 503 with a JSON body past the onSend hooks. */
export const sendUnavailable = (reply: FastifyReply, body: string, headers: OutgoingHttpHeaders): void => {
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
