import { INTERNAL_HEADERS } from '@cpg/contracts';
import type { Caller } from './callers.ts';
import { newRequestId } from '../ids.ts';

/** Identifies the caller and the request. Services pass it on in headers and record it in every event. */
export interface CallContext {
  /** `key:<kid>`, `service:<name>`, `admin` or `debug`. */
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

/** The context of an internal request. Its actor is the calling service; only the gateway knows keys, and names the one
 *  that it authenticated. Missing ids default to the id of this request. */
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

const NAMED_BY_GATEWAY = /^(key:\w{1,64}|debug)$/;

const actorOf = (caller: Caller | undefined, named = ''): string => {
  if (caller === undefined) throw new Error('the request has no authenticated caller');
  if (caller === 'gateway' && NAMED_BY_GATEWAY.test(named)) return named;
  return caller === 'admin' ? caller : `service:${caller}`;
};
