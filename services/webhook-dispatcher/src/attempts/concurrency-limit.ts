export interface ConcurrencyBounds {
  /** Concurrent attempts to an endpoint that has not answered yet. */
  readonly initial: number;
  /** Concurrent attempts to an endpoint that keeps answering. */
  readonly max: number;
}

/** How many attempts to one endpoint may run concurrently. The limit grows by one per round of successes and halves
 *  with each failure (additive increase, multiplicative decrease). */
export const createConcurrencyLimit = ({ initial, max }: ConcurrencyBounds) => {
  let limit = initial;
  return {
    value: () => Math.floor(limit),
    succeed: () => {
      limit = Math.min(max, limit + 1 / limit);
    },
    fail: () => {
      limit = Math.max(1, Math.floor(limit / 2));
    },
  };
};
