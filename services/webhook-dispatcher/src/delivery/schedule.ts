/** Waits before the second, third, ... attempt, in seconds; the first attempt is made at once. */
export type Schedule = readonly number[];

export const DEFAULT_SCHEDULE: Schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

const SPREAD = 0.2;
const RETRY_AFTER_AT_MOST = 2;

/** Seconds to wait before delivery attempt `attempt` (1 is the first), or null once the schedule is spent.
 *  `random` is in [0, 1) and spreads the wait by ±20 %, so endpoints that failed together do not return together.
 *  Throws RangeError unless `attempt` is a positive integer. Source: Standard Webhooks 1.0.0, "Deliverability and reliability". */
export const delaySeconds = (schedule: Schedule, attempt: number, random: () => number): number | null => {
  if (!Number.isInteger(attempt) || attempt < 1) throw new RangeError(`there is no attempt ${attempt}`);
  if (attempt === 1) return 0;
  const planned = schedule[attempt - 2];
  return planned === undefined ? null : planned * (1 - SPREAD + 2 * SPREAD * random());
};

/** When to try again after `made` attempts, or null once the schedule is spent. A receiver's Retry-After lengthens the wait, up to
 *  twice what was planned; it never shortens it, or a hasty receiver would use up its attempts within seconds. */
export const nextAttemptAt = (
  schedule: Schedule,
  made: number,
  { now, random, retryAfter }: { now: Date; random: () => number; retryAfter?: string | undefined },
): Date | null => {
  const planned = delaySeconds(schedule, made + 1, random);
  if (planned === null) return null;
  const asked = retryAfter === undefined ? 0 : (retryAfterSeconds(retryAfter, now) ?? 0);
  const wait = Math.max(planned, Math.min(asked, planned * RETRY_AFTER_AT_MOST));
  return new Date(now.getTime() + Math.round(wait * 1_000));
};

/** Seconds that a Retry-After header asks to wait, 0 for a date that is past, null when it is neither of the header's two forms:
 *  whole seconds, or an HTTP date. Source: RFC 9110, section 10.2.3. */
export const retryAfterSeconds = (header: string, now: Date): number | null => {
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, (at - now.getTime()) / 1_000);
};
