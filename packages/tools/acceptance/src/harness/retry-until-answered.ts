import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './api.ts';

const RETRY_AFTER_MS = 100;
const ANSWERED_WITHIN_MS = 90_000;
// A request that a crash interrupted may count as running for a while.
const RETRYABLE_CODES = new Set(['idempotency_key_in_use', 'concurrent_update']);

/** Repeats a request until it gets a final answer: retries lost connections, 503 and retryable 409. Throws for a
 *  500, which must not occur whatever fails. */
export const retryUntilAnswered = async (send: () => Promise<Answer>): Promise<Answer> => {
  const end = Date.now() + ANSWERED_WITHIN_MS;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const answer = await send();
      if (answer.status === 500) throw new InternalError(answer.text);
      if (answer.status < 500 && !RETRYABLE_CODES.has(answer.body.code as string)) return answer;
      last = answer.text;
    } catch (error) {
      if (error instanceof InternalError) throw error;
      last = error;
    }
    await sleep(RETRY_AFTER_MS);
  }
  throw new Error(`no final answer within ${ANSWERED_WITHIN_MS} ms, the last one was: ${String(last)}`);
};

class InternalError extends Error {}
