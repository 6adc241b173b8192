import { AppError } from '@cpg/contracts';
import { clientNetwork } from '@cpg/platform';
import type { FastifyInstance } from 'fastify';
import { type RateLimits, tooManyRequests } from '../limits/rate-limits.ts';
import { callerOf } from '../request.ts';
import type { AuthenticationBudget, Authenticator } from './authenticator.ts';

export interface ApiKeyOptions {
  readonly authenticator: Authenticator;
  readonly limits: Pick<RateLimits, 'failures' | 'lookups'>;
  /** If false, a request without a key is accepted, and its `caller` is null. */
  readonly required: boolean;
}

/** Authenticates each request of `app` before its body is read. Returns 401 without a valid key. Returns 429 instead of
 *  401 if the client's network had too many failures, until its bucket refills. A valid key still works from there: at
 *  once if it was verified before, else within a bounded number of lookups. A SCRYPT or ARGON2ID key whose secret is
 *  not verified yet waits for the bucket. */
export const authenticate = (app: FastifyInstance, { authenticator, limits, required }: ApiKeyOptions): void => {
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request, reply) => {
    const key = request.headers['x-api-key'];
    if (key === undefined && !required) return;
    if (typeof key !== 'string') throw new AppError('unauthorized', 'x-api-key is missing');
    const { budget, settle } = failureBudget(clientNetwork(request.ip), limits);
    request.caller = await authenticator.authenticate(key, request.ip, budget);
    const failure = settle(request.caller !== null);
    if (request.caller) return;
    if (failure && !failure.allowed) throw tooManyRequests(reply, failure);
    throw new AppError('unauthorized', 'x-api-key is not valid in this environment or from this address');
  });
};

/** A budget that takes a token before it verifies a slow hash, so that concurrent requests cannot exceed it. `settle`
 *  puts it back after a success, and takes one after a failure that took none. */
const failureBudget = (network: string, { failures, lookups }: ApiKeyOptions['limits']) => {
  let taken: ReturnType<typeof failures.consume> | undefined;
  const take = () => (taken ??= failures.consume(network));
  const budget: AuthenticationBudget = {
    id: network,
    allowsLookup: () => !failures.isEmpty(network) || (lookups.consume(network)?.allowed ?? true),
    allowsSlowHash: () => take()?.allowed ?? true,
  };
  const settle = (isSuccess: boolean) => {
    if (!isSuccess) return take();
    if (taken?.allowed) failures.refund(network);
    return null;
  };
  return { budget, settle };
};

/** Refuses the keys of merchants that an operator disabled. */
export const refuseDisabledMerchants = (app: FastifyInstance): void => {
  app.addHook('onRequest', async ({ caller }) => {
    if (caller?.isDisabled)
      throw new AppError(
        'merchant_disabled',
        'the operator of this gateway disabled your merchant account: ask the operator. Payments that arrive are still recorded',
      );
  });
};

/** Refuses callers whose key lacks the scope of the route. Registering a route without a scope throws. */
export const requireScopes = (app: FastifyInstance): void => {
  app.addHook('onRoute', ({ url, config }) => {
    if (!config?.scope) throw new Error(`${url} has no scope in its config`);
  });
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config;
    if (!scope || !callerOf(request).scopes.has(scope))
      throw new AppError('insufficient_scope', `the key needs the scope ${scope}`, { requiredScope: scope });
  });
};
