import { AppError, type ErrorCode } from '@cpg/core';
import type { Pool } from '@cpg/postgres';
import { invalidRequest, type SecretBox, withTimeout } from '@cpg/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Claim,
  claimRequest,
  keepAnswer,
  type KnownRequest,
  knownRequest,
  releaseRequest,
} from '../queries/idempotency.ts';
import { callerOf } from '../request.ts';
import { newSeed } from '../seed.ts';
import { requestFingerprint } from './request-fingerprint.ts';

const HEADER = 'idempotency-key';
const VISIBLE = /^[\x21-\x7e]{1,255}$/;

// Refusals that may turn out otherwise when the same request comes again.
const PASSING = new Set<ErrorCode>(['concurrent_update', 'idempotency_key_in_use', 'rate_limited']);

declare module 'fastify' {
  interface FastifyRequest {
    /** The request is under an Idempotency-Key, and this one works on it. */
    claim: Claim | null;
  }
}

export interface AnswerOnceOptions {
  readonly pool: Pool;
  readonly box: SecretBox;
  /** The name of this gateway's presence. */
  readonly instance: () => string | null;
}

/** Same key, same answer: every POST of `app` that carries an Idempotency-Key has its effect once. The seed of its ids is reserved
 *  before the effect, so a repeat after a crash makes the same ids; what was answered finally is kept 24 hours. Registered
 *  after authentication; works on the validated body. A request without the header costs no query. */
export const answerOnce = (app: FastifyInstance, { pool, box, instance }: AnswerOnceOptions): void => {
  app.decorateRequest('seed', '');
  app.decorateRequest('claim', null);

  app.addHook('preHandler', async (request, reply) => {
    const key = request.headers[HEADER];
    request.seed = newSeed();
    if (request.method !== 'POST' || key === undefined) return;
    if (typeof key !== 'string' || !VISIBLE.test(key)) {
      throw invalidRequest([{ path: HEADER, message: 'must be 1 to 255 visible characters' }]);
    }
    const claim = {
      merchantId: callerOf(request).merchantId,
      key,
      requestHash: requestFingerprint(request),
      seed: request.seed,
      holder: request.id,
      instance: instance(),
    };
    const seed = await claimRequest(pool, claim);
    if (seed !== null) {
      request.seed = seed;
      request.claim = claim;
      if (reply.sent) await finish(request, reply.statusCode, null);
      return;
    }
    const known = await knownRequest(pool, claim);
    await replay(reply, box, answerOf(known, claim));
    return reply;
  });

  const finish = async (request: FastifyRequest, status: number, payload: unknown): Promise<void> => {
    const { claim } = request;
    if (!claim) return;
    request.claim = null;
    try {
      await withTimeout(SETTLE_WITHIN_MS, settle(claim, request, status, payload));
    } catch (error) {
      // The effect stands whether or not its answer is kept: a repeat takes it up with the same ids.
      request.log.warn({ err: error, requestId: request.id }, 'could not keep the answer under its idempotency key');
    }
  };
  app.addHook('onSend', (request, reply, payload) => finish(request, reply.statusCode, payload));
  // A request that took too long was answered without being sent: it may come again at once.
  app.addHook('onResponse', (request, reply) => finish(request, reply.statusCode, null));

  const settle = async (claim: Claim, request: FastifyRequest, status: number, payload: unknown): Promise<void> => {
    if (typeof payload !== 'string' || !isFinal(status, payload)) return releaseRequest(pool, claim);
    const sealed = request.routeOptions.config.answersSecret === true;
    await keepAnswer(pool, claim, { status, text: sealed ? box.seal(payload) : payload, sealed });
  };
};

// The answer does not wait longer for a database that has stopped answering.
const SETTLE_WITHIN_MS = 2_000;

type Answered = KnownRequest & { status: number; answer: string };

const answerOf = (known: KnownRequest | null, claim: Claim): Answered => {
  if (known && known.request_hash !== claim.requestHash) {
    throw new AppError('idempotency_key_reused', 'this Idempotency-Key was used with another request: make a new key');
  }
  if (known?.status && known.answer !== null) return { ...known, status: known.status, answer: known.answer };
  throw new AppError('idempotency_key_in_use', 'a request with this Idempotency-Key is running: try again in a moment');
};

const replay = (reply: FastifyReply, box: SecretBox, { status, answer, sealed }: Answered) =>
  reply
    .code(status)
    .header('idempotency-replayed', 'true')
    .type('application/json; charset=utf-8')
    .send(sealed ? box.open(answer) : answer);

const isFinal = (status: number, payload: string): boolean =>
  status < 400 || (status < 500 && !PASSING.has((JSON.parse(payload) as { code: ErrorCode }).code));
