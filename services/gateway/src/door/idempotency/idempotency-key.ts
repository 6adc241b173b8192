import { AppError, derivedId, invalidRequest } from '@cpg/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

const HEADER = 'idempotency-key';
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/** The Idempotency-Key of a request; undefined without one. Throws a 400 for a malformed one. */
export const idempotencyKeyOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined => {
  const key = headers[HEADER];
  if (key === undefined || (typeof key === 'string' && VISIBLE_ASCII.test(key))) return key;
  throw invalidRequest([{ path: HEADER, message: 'must be 1 to 255 visible characters' }]);
};

/** The id of the order that a merchant creates with a key, while no earlier use of the key has expired. */
export const orderIdOfKey = (merchantId: string, key: string): string => derivedId('order', `${merchantId}\n${key}`);

export const reusedKey = (): AppError =>
  new AppError('idempotency_key_reused', 'this Idempotency-Key was used with another request: use a new key');

export interface FinalResponse {
  readonly status: number;
  readonly text: string;
}

export const sendText = (reply: FastifyReply, { status, text }: FinalResponse): FastifyReply =>
  reply.code(status).type('application/json; charset=utf-8').send(text);

export const sendStored = (reply: FastifyReply, response: FinalResponse): FastifyReply =>
  sendText(reply.header('idempotency-replayed', 'true'), response);
