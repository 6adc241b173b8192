/** Headers of every call between services. */
export const INTERNAL_HEADERS = {
  /** Bearer INTERNAL_TOKEN. */
  authorization: 'authorization',
  requestId: 'x-request-id',
  /** The caller that caused the request: `key:<kid>`, `service:<name>` or `debug`. */
  actor: 'x-actor',
  correlationId: 'x-correlation-id',
  /** Milliseconds that the caller still waits for the response. */
  deadline: 'x-deadline-ms',
} as const;
