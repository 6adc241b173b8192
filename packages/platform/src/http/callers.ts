import { timingSafeEqual } from 'node:crypto';
import { AppError, INTERNAL_HEADERS } from '@cpg/contracts';
import type { FastifyRequest } from 'fastify';
import { newRequestId } from '../ids.ts';
import type { AnyApp } from './any-app.ts';
import { obeyCallersDeadline } from './time-limits.ts';

/** A process that calls a service. `admin` is the command line of operators. */
export type Caller = 'gateway' | 'orders' | 'payments' | 'webhook-dispatcher' | 'admin';

/** The tokens by which a service knows its callers, each caller by its own. */
export type CallerTokens = Readonly<Partial<Record<Caller, readonly string[]>>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The services that may call an internal route. */
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

/** Identifies the caller and the request. Services pass it on in headers and record it in every event. */
export interface CallContext {
  /** `key:<kid>`, `user:<id>`, `service:<name>`, `admin` or `debug`. */
  readonly actor: string;
  readonly requestId: string;
  readonly correlationId: string;
  /** The value of `performance.now()` after which nobody waits for the result. Absent for work in the background. */
  readonly deadlineMs?: number | undefined;
}

/** The context of work that no request asked for. */
export const newContext = (actor: string, requestId = newRequestId()): CallContext => ({
  actor,
  requestId,
  correlationId: requestId,
});

export const contextHeaders = (context: CallContext): Record<string, string> => ({
  [INTERNAL_HEADERS.actor]: context.actor,
  [INTERNAL_HEADERS.requestId]: context.requestId,
  [INTERNAL_HEADERS.correlationId]: context.correlationId,
});

/** The context of an internal request. Its actor is the calling service; only the gateway knows keys and
 *  users, and names the one that it authenticated. Missing ids default to the id of this request. */
export const readCallContext = (request: {
  id: string;
  headers: Record<string, unknown>;
  serviceCaller?: Caller;
  deadlineMs?: number;
}): CallContext => {
  const header = (name: string) => (typeof request.headers[name] === 'string' ? request.headers[name] : undefined);
  const requestId = header(INTERNAL_HEADERS.requestId) ?? request.id;
  return {
    actor: actorOf(request.serviceCaller, header(INTERNAL_HEADERS.actor)),
    requestId,
    correlationId: header(INTERNAL_HEADERS.correlationId) ?? requestId,
    // It changes when the caller closes the connection.
    get deadlineMs() {
      return request.deadlineMs;
    },
  };
};

const NAMED_BY_GATEWAY = /^((key|user):\w{1,64}|debug)$/;

const actorOf = (caller: Caller | undefined, named = ''): string => {
  if (caller === undefined) throw new Error('the request has no authenticated caller');
  if (caller === 'gateway' && NAMED_BY_GATEWAY.test(named)) return named;
  return caller === 'admin' ? caller : `service:${caller}`;
};
