import { createHash } from 'node:crypto';
import { AppError, derivedId, type ErrorBody, invalidRequest } from '@cpg/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import sortKeys from 'sort-keys';

const HEADER = 'idempotency-key';
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/** The Idempotency-Key of a request; undefined without one. Throws a 400 for a malformed one. */
export const idempotencyKeyOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined => {
  const key = headers[HEADER];
  if (key === undefined || (typeof key === 'string' && VISIBLE_ASCII.test(key))) return key;
  throw invalidRequest([{ path: HEADER, message: 'must be 1 to 255 visible ASCII characters, without spaces' }]);
};

/** The id of the order that a merchant creates with a key, while no earlier use of the key has expired. */
export const orderIdOfKey = (merchantId: string, key: string): string => derivedId('order', `${merchantId}\n${key}`);

export const reusedKey = (): AppError =>
  new AppError('idempotency_key_reused', 'this Idempotency-Key was used with another request: use a new key');

/** The refusal of a repeated request whose order or webhook was deleted. */
export const goneError = (resourceId: string): AppError =>
  resourceId.startsWith('whk_')
    ? new AppError('webhook_deleted', 'the webhook of this request was deleted: use a new Idempotency-Key')
    : new AppError('order_deleted', 'the order of this request was deleted: use a new Idempotency-Key');

export interface FinalResponse {
  readonly status: number;
  readonly text: string;
}

export const sendText = (reply: FastifyReply, { status, text }: FinalResponse): FastifyReply =>
  reply.code(status).type('application/json; charset=utf-8').send(text);

export const sendStored = (reply: FastifyReply, response: FinalResponse): FastifyReply => {
  if (response.status >= 400) reply.request.errorCode = (JSON.parse(response.text) as ErrorBody).code;
  return sendText(reply.header('idempotency-replayed', 'true'), response);
};

export interface FingerprintedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** The validated body; absent when the request has none. */
  readonly body?: unknown;
}

/** SHA-256, in hexadecimal, of method, URL and body. The order of the names in the body does not matter.
 *  Stored with idempotency keys for 24 hours, so a new version must compute the same value: not RFC 8785, which sorts
 *  `"10"` before `"9"`. */
export const requestFingerprint = ({ method, url, body = null }: FingerprintedRequest): string =>
  createHash('sha256')
    .update(JSON.stringify(sortKeys([method, url, body], { deep: true })))
    .digest('hex');
