import type { Attempt, Delivery, Result } from './delivery.ts';

/** Waits before the second, third, ... attempt, in seconds. The first attempt is immediate. */
export type Schedule = readonly number[];

export const DEFAULT_SCHEDULE: Schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

const JITTER = 0.2;
/** A Retry-After header lengthens the planned wait up to this factor. */
const MAX_RETRY_AFTER_FACTOR = 2;

/** Seconds to wait before delivery attempt `attempt` (1 is the first), or null once the schedule is spent.
 *  `random` is in [0, 1) and spreads the wait by ±20 %, so endpoints that failed together do not return together.
 *  Throws RangeError unless `attempt` is a positive integer. Source: Standard Webhooks 1.0.0, "Deliverability and
 *  reliability". */
export const delaySeconds = (schedule: Schedule, attempt: number, random: () => number): number | null => {
  if (!Number.isInteger(attempt) || attempt < 1)
    throw new RangeError(`attempt must be a positive integer, not ${attempt}`);
  if (attempt === 1) return 0;
  const planned = schedule[attempt - 2];
  return planned === undefined ? null : planned * (1 - JITTER + 2 * JITTER * random());
};

/** When to retry after `made` attempts, or null once the schedule is spent. A Retry-After header lengthens the wait, up
 *  to twice the planned one. It never shortens it: an endpoint that asks for `0` would use up all its attempts within
 *  seconds. */
export const nextAttemptAt = (
  schedule: Schedule,
  made: number,
  { now, random, retryAfter }: { now: Date; random: () => number; retryAfter?: string | undefined },
): Date | null => {
  const planned = delaySeconds(schedule, made + 1, random);
  if (planned === null) return null;
  const requested = retryAfter === undefined ? 0 : (retryAfterSeconds(retryAfter, now) ?? 0);
  const wait = Math.max(planned, Math.min(requested, planned * MAX_RETRY_AFTER_FACTOR));
  return new Date(now.getTime() + Math.round(wait * 1_000));
};

export const GONE = 410;

/** The state of a delivery after an attempt: delivered, failed, or pending with the time of the next attempt. 410 Gone
 *  is not retried. */
export const resultOf = (
  delivery: Delivery,
  attempt: Attempt,
  { schedule, now, random }: { schedule: Schedule; now: Date; random: () => number },
): Result => {
  if (attempt.outcome === 'delivered') return { delivery, attempt, status: 'delivered', nextAt: null };
  const { retryAfter, statusCode } = attempt;
  const nextAt =
    statusCode === GONE ? null : nextAttemptAt(schedule, delivery.attempts + 1, { now, random, retryAfter });
  return { delivery, attempt, status: nextAt ? 'pending' : 'failed', nextAt };
};

/** The longest waits after the first, second, ... attempt, in seconds. */
export const longestWaits = (schedule: Schedule): number[] =>
  schedule.map((seconds) => seconds * MAX_RETRY_AFTER_FACTOR);

/** The seconds of a Retry-After header, which has whole seconds or an HTTP date; 0 for a past date, null for any other
 *  text. Source: RFC 9110, section 10.2.3. */
export const retryAfterSeconds = (header: string, now: Date): number | null => {
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, (at - now.getTime()) / 1_000);
};
