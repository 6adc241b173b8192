import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './api.ts';

const AGAIN_AFTER_MS = 100;
const FOR_GOOD_WITHIN_MS = 90_000;
// A request of ours that a crash cut off may still count as running for a while.
const COME_BACK = new Set(['idempotency_key_in_use', 'concurrent_update']);

/** Sends the same request until it is answered for good, as a careful client does: a lost connection, a 503, and a 409 that asks to
 *  come back are no answers. Throws for any other 5xx: whatever breaks, there is none. */
export const insist = async (send: () => Promise<Answer>): Promise<Answer> => {
  const end = Date.now() + FOR_GOOD_WITHIN_MS;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const answer = await send();
      if (answer.status === 500) throw new InternalError(answer.text);
      if (answer.status < 500 && !COME_BACK.has(answer.body.code as string)) return answer;
      last = answer.text;
    } catch (error) {
      if (error instanceof InternalError) throw error;
      last = error;
    }
    await sleep(AGAIN_AFTER_MS);
  }
  throw new Error(`no answer for good within ${FOR_GOOD_WITHIN_MS} ms, the last one was: ${String(last)}`);
};

class InternalError extends Error {}
