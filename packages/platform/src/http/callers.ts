import { timingSafeEqual } from 'node:crypto';
import { AppError, INTERNAL_HEADERS } from '@cpg/contracts';
import type { FastifyRequest } from 'fastify';
import type { AnyApp } from './any-app.ts';
import { obeyCallersDeadline } from './deadline.ts';

/** A process that calls a service. `admin` is the command line of operators. */
export type Caller = 'gateway' | 'orders' | 'payments' | 'webhook-dispatcher' | 'admin';

/** The tokens by which a service knows its callers, each caller by its own. */
export type CallerTokens = Readonly<Partial<Record<Caller, readonly string[]>>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call an internal route. */
    callers?: readonly Caller[];
  }
  interface FastifyRequest {
    /** The process that sent an internal request, by its token. */
    serviceCaller?: Caller;
  }
}

/** Answers 401 to a request without the token of a caller, and 403 to a caller that its route does not name. Every
 *  route that is registered afterwards has to name its callers: otherwise the start fails. */
export const requireCaller = (app: AnyApp, tokens: CallerTokens): void => {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.callers) throw new Error(`${String(method)} ${url} does not say who may call it`);
  });
  app.addHook('onRequest', async (request: FastifyRequest) => {
    const caller = callerOf(request, tokens);
    if (!caller) throw new AppError('unauthorized', 'the token belongs to no caller of this service');
    if (!request.routeOptions.config.callers?.includes(caller))
      throw new AppError('insufficient_scope', `${caller} may not call this route`);
    request.serviceCaller = caller;
    obeyCallersDeadline(request);
  });
};

/** Answers 401 to a request without one of the tokens. */
export const requireToken = (app: AnyApp, tokens: readonly string[]): void => {
  app.addHook('onRequest', async (request: FastifyRequest) => {
    if (!hasToken(request, tokens)) throw new AppError('unauthorized', 'the token is not known');
  });
};

const callerOf = (request: FastifyRequest, tokens: CallerTokens): Caller | undefined =>
  (Object.keys(tokens) as Caller[]).find((caller) => hasToken(request, tokens[caller]!));

/** Compares in constant time. */
const hasToken = ({ headers }: FastifyRequest, tokens: readonly string[]): boolean => {
  const given = Buffer.from(headers[INTERNAL_HEADERS.authorization] ?? '');
  return tokens.some((token) => {
    const known = Buffer.from(`Bearer ${token}`);
    return known.length === given.length && timingSafeEqual(known, given);
  });
};
