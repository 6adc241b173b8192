import type { FastifyReply } from 'fastify';

/** Answers with JSON text as it is. */
export const sendJsonText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(text);
