import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS = 25;

/** Polls `check` until it returns a value and resolves with it. After `withinMs` throws an error with `description`
 *  and the last error of `check` as cause. The limit only ends tests that would hang; it does not measure speed. It is
 *  less than the limit of a test, so that the error says what was missing. */
export const until = async <T>(
  description: string,
  check: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { withinMs = 120_000 }: { withinMs?: number } = {},
): Promise<T> => {
  const end = Date.now() + withinMs;
  let cause: unknown;
  for (;;) {
    try {
      const found = await check();
      if (found !== null && found !== undefined && found !== false) return found;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > end) throw new Error(`timed out after ${withinMs} ms: ${description}`, { cause });
    await sleep(POLL_INTERVAL_MS);
  }
};
