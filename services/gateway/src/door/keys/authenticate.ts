import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@cpg/contracts';
import { clientNetwork } from '@cpg/platform';
import type { FastifyInstance } from 'fastify';
import { type RateLimits, tooManyRequests } from '../limits/rate-limits.ts';
import { callerOf } from '../request.ts';
import { callerOfSession, type SessionAuthentication, sessionEnded } from '../sessions/authenticate-session.ts';
import { sessionTokenOf } from '../sessions/session-cookie.ts';
import { type Scope, startOfKeys } from './api-key.ts';
import type { AuthenticationBudget, Authenticator } from './authenticator.ts';

export interface ApiKeyOptions {
  readonly authenticator: Authenticator;
  readonly limits: Pick<RateLimits, 'failures' | 'lookups'>;
  /** If false, a request without a key is accepted, and its `caller` is null. */
  readonly required: boolean;
  /** Where the sessions of users are. Without it, a session is no substitute for a key. */
  readonly sessions?: SessionAuthentication;
}

/** Authenticates each request of `app` before its body is read. Returns 401 without a valid key. Returns 429 instead of
 *  401 if the client's network had too many failures, until its bucket refills. A valid key still works from there: at
 *  once if it was verified before, else within a bounded number of lookups. A SCRYPT or ARGON2ID key whose secret is
 *  not verified yet waits for the bucket. */
export const authenticate = (app: FastifyInstance, options: ApiKeyOptions): void => {
  const { authenticator, limits, required, sessions } = options;
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request, reply) => {
    const key = request.headers['x-api-key'];
    if (key === undefined && !required) return;
    if (key === undefined && sessions && sessionTokenOf(request) !== undefined) {
      request.caller = await callerOfSession(request, sessions);
      if (request.caller) return;
      throw sessionEnded();
    }
    if (typeof key !== 'string') throw unauthorized('x-api-key is missing', formFault(request.headers, authenticator));
    const { budget, settle } = failureBudget(clientNetwork(request.ip), limits);
    request.caller = await authenticator.authenticate(key, request.ip, budget);
    const failure = settle(request.caller !== null);
    if (request.caller) return;
    if (failure && !failure.allowed) throw tooManyRequests(reply, failure);
    const fault = formFault(request.headers, authenticator);
    throw unauthorized('x-api-key is not valid in this environment or from this address', fault);
  });
};

const unauthorized = (message: string, fault: string | null): AppError =>
  new AppError('unauthorized', message, { details: fault === null ? [] : [{ path: 'x-api-key', message: fault }] });

/** What is wrong with the header that a client sent, where its text alone shows it. It tells nothing about the keys that
 *  exist. Null for a text that could be a key of this environment. */
const formFault = (
  { 'x-api-key': key, authorization }: IncomingHttpHeaders,
  { environment }: Pick<Authenticator, 'environment'>,
): string | null => {
  const start = startOfKeys(environment);
  if (typeof key !== 'string' || key === '') {
    const place = authorization === undefined ? '' : ', not in Authorization';
    return `is missing: send the API key in this header${place}`;
  }
  if (/^bearer\s/i.test(key)) return 'must be the key alone, without "Bearer"';
  if (key.startsWith(start)) return null;
  return /^ak_(sandbox|live)_/.test(key)
    ? `is a key of another environment: keys of this gateway start with "${start}"`
    : `is no API key: keys of this gateway start with "${start}"`;
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

/** Refuses callers who lack the scope of the route, and tells `onUse` which key used which. Registering a route without
 *  a scope throws. */
export const requireScopes = (app: FastifyInstance, onUse: (kid: string, scope: Scope) => void): void => {
  app.addHook('onRoute', ({ url, config }) => {
    if (!config?.scope) throw new Error(`${url} has no scope in its config`);
  });
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config;
    const caller = callerOf(request);
    if (!scope || !caller.scopes.has(scope)) {
      const who = caller.by === 'key' ? 'the key' : 'your role';
      throw new AppError('insufficient_scope', `${who} needs the scope ${scope}`, { requiredScope: scope });
    }
    if (caller.by === 'key') onUse(caller.kid, scope);
  });
};
