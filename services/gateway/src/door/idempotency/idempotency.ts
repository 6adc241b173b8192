import { AppError, type ErrorCode } from '@cpg/contracts';
import { newUlid, type SecretBox, withTimeout } from '@cpg/platform';
import type { Pool, Queryable } from '@cpg/platform/postgres';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../request.ts';
import { isDeleted, orderIdOfPayment, orderIdOfRefund } from './deleted-resources.ts';
import {
  type FinalResponse,
  goneError,
  idempotencyKeyOf,
  orderIdOfKey,
  requestFingerprint,
  reusedKey,
  sendStored,
} from './idempotency-key.ts';
import {
  type Claim,
  claimRequest,
  findRequest,
  isOrderCreatedBy,
  releaseClaim,
  responseRow,
  type StoredRequest,
  storeResponse,
} from './stored-requests.ts';

// Refusals below 500 that are not stored, because a retry of the same request can succeed.
const RETRYABLE = new Set<ErrorCode>([
  'concurrent_update',
  'host_not_public',
  'idempotency_key_in_use',
  'rate_limited',
  'replay_running',
]);

// A database that does not respond delays the response no longer than this.
const STORE_TIMEOUT_MS = 2_000;

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
  /** The time by which keys end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
}

/** Makes every POST of `app` with an Idempotency-Key idempotent. The seed of new ids is stored before the effect, so a
 *  retry after a crash creates the same ids. A final response is stored for 24 hours and returned to repeats. Register
 *  it after authentication; it uses the validated body. A request without the header needs no query. Routes whose key
 *  is decided by orders are left out. */
export const handleIdempotencyKeys = (app: FastifyInstance, options: IdempotencyOptions): void => {
  app.decorateRequest('seed', '');
  app.decorateRequest('claim', null);

  app.addHook('onRoute', ({ method, url, config }) => {
    if (method === 'POST' && !config?.shows) throw new Error(`${url} does not say which resource its response shows`);
  });
  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST') return;
    request.seed = newUlid();
    const key = idempotencyKeyOf(request);
    if (key === undefined || request.routeOptions.config.keyDecidedBy === 'orders') return;
    const claim = await claimFor(request, key, options);
    const seed = await claimRequest(options.pool, claim);
    if (seed === null) {
      const stored = await readStored(claim, options);
      request.seed = stored.seed;
      return sendStored(reply, stored);
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
  key: string,
  { pool, instanceName, endsBy }: IdempotencyOptions,
): Promise<Claim> => {
  const { merchantId } = callerOf(request);
  if (await isOrderCreatedBy(pool, orderIdOfKey(merchantId, key), endsBy())) throw reusedKey();
  return {
    merchantId,
    key,
    requestHash: requestFingerprint(request),
    seed: request.seed,
    holder: request.id,
    instance: instanceName(),
    resource: await shownResource(pool, request),
    endsBy: endsBy(),
  };
};

const readStored = async (claim: Claim, options: IdempotencyOptions): Promise<FinalResponse & { seed: string }> => {
  const stored = await findRequest(options.pool, claim);
  const response = stored && (await responseOf(stored, claim, options));
  if (response) return { ...response, seed: stored.seed };
  throw new AppError(
    'idempotency_key_in_use',
    'a request with this Idempotency-Key is still running: try again in a moment',
  );
};

const GONE = 410;

/** Null while the request has no response. Throws 422 for another request, and 410 when what it shows was deleted
 *  since: its contents must not come back. */
const responseOf = async (
  { request_hash, status, answer, sealed, resource_id: resource }: StoredRequest,
  claim: Claim,
  { pool, box }: IdempotencyOptions,
): Promise<FinalResponse | null> => {
  if (request_hash !== claim.requestHash) throw reusedKey();
  if (status === GONE && resource !== null) throw goneError(resource);
  if (status === null || answer === null) return null;
  if (resource !== null && (await isDeleted(pool, claim.merchantId, resource))) throw goneError(resource);
  return { status, text: sealed ? box.open(answer, responseRow(claim)) : answer };
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
    await storeResponse(pool, claim, {
      status,
      text: sealed ? box.seal(payload, responseRow(claim)) : payload,
      sealed,
    });
  };
  try {
    await withTimeout(STORE_TIMEOUT_MS, store());
  } catch (error) {
    // The effect is complete. A repeat runs again with the same seed, so it has the same result.
    request.log.warn({ err: error, requestId: request.id }, 'could not store the response of an idempotent request');
  }
};

const isFinal = (status: number, payload: string): boolean =>
  status < 400 || (status < 500 && !RETRYABLE.has((JSON.parse(payload) as { code: ErrorCode }).code));

const ID = /^(ord|pay|rfd|whk)_[0-9A-Z]{26}$/;

/** The id of the order or webhook that the response of a request will show; for a payment or a refund, of its order. `{seed}`
 *  stands for the seed of new ids. Null when the path has no valid id, and for an API key or a user. */
const shownResource = async (db: Queryable, request: FastifyRequest): Promise<string | null> => {
  const { id } = request.params as { id?: string };
  const { shows } = request.routeOptions.config;
  if (shows === 'api key' || shows === 'user') return null;
  if (id === undefined) return shows === 'webhook' ? 'whk_{seed}' : 'ord_{seed}';
  if (!ID.test(id)) return null;
  if (id.startsWith('rfd_')) return orderIdOfRefund(db, id);
  return id.startsWith('pay_') ? orderIdOfPayment(db, id) : id;
};
