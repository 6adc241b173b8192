import { INTERNAL_HEADERS } from '@cpg/contracts';

/** Who asked, in which request, and as part of what: carried across services and into every event. */
export interface CallContext {
  /** `key:<kid>`, `service:<name>` or `debug`. */
  readonly actor: string;
  readonly requestId: string;
  readonly correlationId: string;
}

export const contextHeaders = (context: CallContext): Record<string, string> => ({
  [INTERNAL_HEADERS.actor]: context.actor,
  [INTERNAL_HEADERS.requestId]: context.requestId,
  [INTERNAL_HEADERS.correlationId]: context.correlationId,
});

/** Reads the context of a call between services. What a caller left out is filled from the request's own id. */
export const readCallContext = (request: { id: string; headers: Record<string, unknown> }): CallContext => {
  const header = (name: string) => (typeof request.headers[name] === 'string' ? request.headers[name] : undefined);
  const requestId = header(INTERNAL_HEADERS.requestId) ?? request.id;
  return {
    actor: header(INTERNAL_HEADERS.actor) ?? 'service:unknown',
    requestId,
    correlationId: header(INTERNAL_HEADERS.correlationId) ?? requestId,
  };
};
