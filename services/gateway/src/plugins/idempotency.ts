import { AppError, type ErrorCode } from '@cpg/core';
import type { Pool } from '@cpg/postgres';
import { invalidRequest, newUlid, type SecretBox, withTimeout } from '@cpg/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Claim,
  claimRequest,
  findRequest,
  releaseClaim,
  type StoredRequest,
  storeResponse,
} from '../queries/idempotency.ts';
import { isDeleted } from '../queries/deleted-resources.ts';
import { callerOf } from '../request.ts';
import { goneError, resourceIn, shownResource } from './shown-resource.ts';
import { requestFingerprint } from './request-fingerprint.ts';

const HEADER = 'idempotency-key';
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

// Refusals below 500 that are not stored, because a retry of the same request can succeed.
const RETRYABLE = new Set<ErrorCode>(['concurrent_update', 'idempotency_key_in_use', 'rate_limited']);

// A database that does not respond delays the response no longer than this.
const STORE_TIMEOUT_MS = 2_000;

const GONE = 410;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while this request holds the lease of its Idempotency-Key. */
    claim: Claim | null;
  }
}

export interface IdempotencyOptions {
  readonly pool: Pool;
  readonly box: SecretBox;
  /** The name of this gateway's instance lock; null while it does not hold the lock. */
  readonly instanceName: () => string | null;
}

/** Makes every POST of `app` with an Idempotency-Key idempotent. The seed of new ids is stored before the effect, so a
 *  retry after a crash creates the same ids. A final response is stored for 24 hours and returned to repeats. Register
 *  it after authentication; it uses the validated body. A request without the header needs no query. */
export const handleIdempotencyKeys = (app: FastifyInstance, options: IdempotencyOptions): void => {
  app.decorateRequest('seed', '');
  app.decorateRequest('claim', null);

  app.addHook('onRoute', ({ method, url, config }) => {
    if (method === 'POST' && !config?.shows) throw new Error(`${url} does not say which resource its response shows`);
  });
  app.addHook('preHandler', async (request, reply) => {
    const key = request.headers[HEADER];
    request.seed = newUlid();
    if (request.method !== 'POST' || key === undefined) return;
    const claim = await claimFor(request, key, options);
    const seed = await claimRequest(options.pool, claim);
    if (seed === null) {
      const stored = await readStored(claim, options);
      request.seed = stored.seed;
      sendStored(reply, stored);
      return reply;
    }
    request.seed = seed;
    request.claim = claim;
    // The request timed out while it was being claimed.
    if (reply.sent) await endClaim(request, reply.statusCode, null, options);
  });
  app.addHook('onSend', (request, reply, payload) => endClaim(request, reply.statusCode, payload, options));
  // After a timeout the response bypasses onSend: release the key, so that a retry can start at once.
  app.addHook('onResponse', (request, reply) => endClaim(request, reply.statusCode, null, options));
};

const claimFor = async (
  request: FastifyRequest,
  key: string | string[],
  { pool, instanceName }: IdempotencyOptions,
): Promise<Claim> => {
  if (typeof key !== 'string' || !VISIBLE_ASCII.test(key)) {
    throw invalidRequest([{ path: HEADER, message: 'must be 1 to 255 visible characters' }]);
  }
  return {
    merchantId: callerOf(request).merchantId,
    key,
    requestHash: requestFingerprint(request),
    seed: request.seed,
    holder: request.id,
    instance: instanceName(),
    resource: await shownResource(pool, request),
  };
};

/** Stores a final response under the key, or releases the key. */
const endClaim = async (
  request: FastifyRequest,
  status: number,
  payload: unknown,
  { pool, box }: IdempotencyOptions,
): Promise<void> => {
  const { claim } = request;
  if (!claim) return;
  request.claim = null;
  const store = async (): Promise<void> => {
    if (typeof payload !== 'string' || !isFinal(status, payload)) return releaseClaim(pool, claim);
    const sealed = request.routeOptions.config.responseHasSecret === true;
    await storeResponse(pool, claim, { status, text: sealed ? box.seal(payload) : payload, sealed });
  };
  try {
    await withTimeout(STORE_TIMEOUT_MS, store());
  } catch (error) {
    // The effect is complete. A repeat runs again with the same seed, so it has the same result.
    request.log.warn({ err: error, requestId: request.id }, 'could not store the response of an idempotent request');
  }
};

type FinalResponse = Pick<StoredRequest, 'seed' | 'resource_id'> & { readonly status: number; readonly text: string };

/** The stored response. Throws 410 when what it shows was deleted since: its contents must not come back. */
const readStored = async (claim: Claim, { pool, box }: IdempotencyOptions): Promise<FinalResponse> => {
  const stored = finalResponse(await findRequest(pool, claim), claim, box);
  const shown = stored.resource_id ?? resourceIn(stored.text);
  if (shown !== null && (stored.status === GONE || (await isDeleted(pool, claim.merchantId, shown))))
    throw goneError(shown);
  return stored;
};

const finalResponse = (stored: StoredRequest | null, claim: Claim, box: SecretBox): FinalResponse => {
  if (stored && stored.request_hash !== claim.requestHash) {
    throw new AppError('idempotency_key_reused', 'this Idempotency-Key was used with another request: use a new key');
  }
  const { seed = '', status, answer, sealed, resource_id = null } = stored ?? {};
  if (status === GONE && resource_id) return { seed, status, text: '', resource_id };
  if (status && answer) return { seed, status, text: sealed ? box.open(answer) : answer, resource_id };
  throw new AppError(
    'idempotency_key_in_use',
    'a request with this Idempotency-Key is still running: try again in a moment',
  );
};

const sendStored = (reply: FastifyReply, { status, text }: FinalResponse) =>
  reply.code(status).header('idempotency-replayed', 'true').type('application/json; charset=utf-8').send(text);

const isFinal = (status: number, payload: string): boolean =>
  status < 400 || (status < 500 && !RETRYABLE.has((JSON.parse(payload) as { code: ErrorCode }).code));
