import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext, Logger } from '@cpg/platform';
import { LRUCache } from 'lru-cache';
import type { OutsideProvider } from './provider.ts';
import type { QueryProvider } from './reported-payment.ts';

interface Reference {
  readonly provider: string;
  readonly reference: string;
}

/** Asks the providers of an order that is due for its payments, and records them. Resolves to the providers that did
 *  not show everything. A provider that is not set up any more has nothing to show. */
export type AskLast = (references: readonly Reference[], context: CallContext) => Promise<string[]>;

export interface LastQueriesOptions {
  readonly providers: readonly OutsideProvider[];
  readonly query: QueryProvider;
  readonly log: Logger;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  readonly answerWithinMs?: number;
}

/** Shorter than orders waits: its timer serves the orders of other providers too. */
const ANSWER_WITHIN_MS = 2_000;
/** A provider that failed is left alone for this long. */
const PAUSE_MS = 15_000;
const CONCURRENCY = 8;
/** Orders asks again within a minute. */
const ANSWER_HOLDS_MS = 2 * 60_000;
const MAX_ANSWERED = 10_000;

/** The last question before an order ends: a callback may have got lost, also while everything stood still. A slow
 *  provider goes on answering after the caller has stopped waiting; the next call for the reference finds the
 *  answer. */
export const lastQueries = ({
  providers,
  query,
  log,
  nowMs = () => performance.now(),
  answerWithinMs = ANSWER_WITHIN_MS,
}: LastQueriesOptions): AskLast => {
  const askerOf = (provider: OutsideProvider) => {
    const running = new Map<string, Promise<boolean>>();
    const answered = new LRUCache<string, true>({ max: MAX_ANSWERED, ttl: ANSWER_HOLDS_MS });
    let pausedUntilMs = -Infinity;

    const ask = async (reference: string, context: CallContext): Promise<boolean> => {
      try {
        await query(provider, reference, context);
        answered.set(reference, true);
        return true;
      } catch (error) {
        pausedUntilMs = nowMs() + PAUSE_MS;
        log.warn({ err: error, provider: provider.name }, 'a provider is unavailable: orders that are due wait for it');
        return false;
      } finally {
        running.delete(reference);
      }
    };
    return async (reference: string, context: CallContext): Promise<boolean> => {
      // Each answer counts for one deadline: an order that renews is due again.
      if (answered.delete(reference)) return true;
      if (!running.has(reference)) {
        if (nowMs() < pausedUntilMs || running.size >= CONCURRENCY) return false;
        running.set(reference, ask(reference, context));
      }
      const given = new AbortController();
      const tooLate = sleep(answerWithinMs, false, { signal: given.signal }).catch(() => false);
      const isAnswered = await Promise.race([running.get(reference)!, tooLate]);
      given.abort();
      if (isAnswered) answered.delete(reference);
      return isAnswered;
    };
  };
  const askers = new Map(providers.map((provider) => [provider.name, askerOf(provider)]));

  return async (references, context) => {
    const isShown = await Promise.all(
      references.map(async ({ provider, reference }) => askers.get(provider)?.(reference, context) ?? true),
    );
    return [...new Set(references.filter((_, index) => !isShown[index]).map(({ provider }) => provider))];
  };
};
