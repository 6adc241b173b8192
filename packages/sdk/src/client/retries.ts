import { ApiError } from './errors.ts';

// Refusals that say that nothing was done: any request may be sent again.
const NOTHING_DONE = new Set<string>([
  'rate_limited',
  'overloaded',
  'dependency_unavailable',
  'rate_unavailable',
  'concurrent_update',
  'request_timeout',
]);
// Refusals below 500 that a repeat with the same key can pass.
const KEY_IN_USE = 'idempotency_key_in_use';

/** Whether the same request may succeed later. `isRepeatable`: it takes effect once however often it is sent. */
export const isWorthRetrying = (error: unknown, isRepeatable: boolean): boolean => {
  if (!(error instanceof ApiError)) return isRepeatable;
  if (NOTHING_DONE.has(error.code) || error.status === 429) return true;
  return isRepeatable && (error.status >= 500 || error.code === KEY_IN_USE);
};

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
// The gateway answers every request within 12 seconds.
const LONGEST_REQUEST_MS = 13_000;

/** Milliseconds to wait before retry number `retry`, from 1, of `maxRetries`. `random` is in [0, 1). The last retry
 *  after `idempotency_key_in_use` waits until the running request has ended; those before it wait less. */
export const waitMs = (retry: number, maxRetries: number, error: unknown, random: number): number => {
  const planned = Math.min(FIRST_WAIT_MS * 2 ** (retry - 1), LONGEST_WAIT_MS) * (0.5 + random / 2);
  const isInUse = error instanceof ApiError && error.code === KEY_IN_USE;
  return isInUse ? Math.max(planned, LONGEST_REQUEST_MS / 4 ** (maxRetries - retry)) : planned;
};

/** Milliseconds that the `Retry-After` of an error asks for: seconds or a date, as in RFC 9110. 0 without one. */
export const retryAfterMs = (error: unknown, nowMs: number): number => {
  const header = error instanceof ApiError ? error.headers.get('retry-after') : null;
  if (header === null) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
};
