import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_AGAIN_MS = 25;

/** What `look` finds, asked again while it finds nothing or throws. Throws after `withinMs`, saying what was waited for and the last
 *  thing that went wrong: a limit for tests that would hang, not a measure of speed. */
export const until = async <T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { withinMs = 20_000 }: { withinMs?: number } = {},
): Promise<T> => {
  const end = Date.now() + withinMs;
  let cause: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found !== null && found !== undefined && found !== false) return found;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > end) throw new Error(`waited ${withinMs} ms in vain: ${what}`, { cause });
    await sleep(LOOK_AGAIN_MS);
  }
};
