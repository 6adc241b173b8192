/** Headers of every call between services. */
export const INTERNAL_HEADERS = {
  /** Bearer, and the token of the caller for the service: it tells who calls. */
  authorization: 'authorization',
  requestId: 'x-request-id',
  /** Whose request caused the call: `key:<kid>`, `user:<id>`, or `debug`. Only the gateway is believed. */
  actor: 'x-actor',
  correlationId: 'x-correlation-id',
  /** Milliseconds that the caller still waits for the response. Ignored without a token. */
  deadline: 'x-deadline-ms',
} as const;
