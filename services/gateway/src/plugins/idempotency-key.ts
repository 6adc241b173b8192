import { ID_PREFIXES } from '@cpg/contracts';
import { AppError, invalidRequest } from '@cpg/core';
import { type SecretBox, ulidOf } from '@cpg/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from '@cpg/postgres';
import { isDeleted } from '../queries/deleted-resources.ts';
import { type Claim, responseRow, type StoredRequest } from '../queries/idempotency.ts';
import { goneError } from './shown-resource.ts';

const HEADER = 'idempotency-key';
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

const GONE = 410;

/** The Idempotency-Key of a request; undefined without one. Throws a 400 for a malformed one. */
export const idempotencyKeyOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined => {
  const key = headers[HEADER];
  if (key === undefined || (typeof key === 'string' && VISIBLE_ASCII.test(key))) return key;
  throw invalidRequest([{ path: HEADER, message: 'must be 1 to 255 visible characters' }]);
};

/** The id of the order that a merchant creates with a key, while no earlier use of the key has expired. */
export const orderIdOfKey = (merchantId: string, key: string): string =>
  `${ID_PREFIXES.order}_${ulidOf(`${merchantId}\n${key}`)}`;

export const reusedKey = (): AppError =>
  new AppError('idempotency_key_reused', 'this Idempotency-Key was used with another request: use a new key');

export interface FinalResponse {
  readonly status: number;
  readonly text: string;
}

/** The stored response of a request; null while it has none. Throws 422 for another request, and 410 when what it shows
 *  was deleted since: its contents must not come back. */
export const responseOf = async (
  stored: StoredRequest,
  { merchantId, key, requestHash }: Pick<Claim, 'merchantId' | 'key' | 'requestHash'>,
  { pool, box }: { readonly pool: Pool; readonly box: SecretBox },
): Promise<FinalResponse | null> => {
  if (stored.request_hash !== requestHash) throw reusedKey();
  const { status, answer, sealed, resource_id: resource } = stored;
  if (status === GONE && resource !== null) throw goneError(resource);
  if (status === null || answer === null) return null;
  if (resource !== null && (await isDeleted(pool, merchantId, resource))) throw goneError(resource);
  return { status, text: sealed ? box.open(answer, responseRow({ merchantId, key })) : answer };
};

export const sendText = (reply: FastifyReply, { status, text }: FinalResponse): FastifyReply =>
  reply.code(status).type('application/json; charset=utf-8').send(text);

export const sendStored = (reply: FastifyReply, response: FinalResponse): FastifyReply =>
  sendText(reply.header('idempotency-replayed', 'true'), response);
