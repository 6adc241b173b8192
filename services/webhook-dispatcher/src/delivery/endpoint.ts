/** How hard an endpoint may be tried. */
export interface EndpointLimits {
  /** Attempts at once to an endpoint that has proven nothing yet. */
  readonly slots: number;
  /** Attempts at once to one that keeps answering. */
  readonly maxSlots: number;
  /** Deliveries kept in memory per slot, so a slot that frees has its next one at hand. */
  readonly heldPerSlot: number;
  /** An attempt that runs longer than this marks its endpoint as slow: no more is taken up for it than its first slots. */
  readonly slowMs: number;
  /** Failures in a row until the endpoint is left alone for a while. */
  readonly failuresToHold: number;
  readonly holdMs: number;
  readonly maxHoldMs: number;
}

export const ENDPOINT_LIMITS: EndpointLimits = {
  slots: 2,
  maxSlots: 64,
  heldPerSlot: 16,
  slowMs: 500,
  failuresToHold: 10,
  holdMs: 1_000,
  maxHoldMs: 60_000,
};

/** `held`: left alone after failures in a row. `probed`: tried by one attempt at a time, for it was held. `failing`: the last attempt failed.
 *  `slow`: one has been under way for long. */
export type EndpointState = 'sound' | 'slow' | 'failing' | 'probed' | 'held';

/** How an endpoint stands. */
export interface EndpointReport {
  readonly webhookId: string;
  readonly state: EndpointState;
  /** Until when it is left alone, Unix milliseconds; past when it is not. */
  readonly heldUntilMs: number;
}

export const ENDPOINT_STATES: readonly EndpointState[] = ['sound', 'slow', 'failing', 'probed', 'held'];

/** What this instance knows of one webhook's endpoint: how many attempts it stands, and whether it is left alone. Times in milliseconds.
 *  Slots grow by one with each round of successes and halve with each failure; after `failuresToHold` failures in a row it is left alone,
 *  then tried by one attempt, each time twice as long, until one succeeds. */
export const createEndpoint = (limits: EndpointLimits) => {
  const started = new Map<object, number>();
  let slots = limits.slots;
  let failures = 0;
  let holds = 0;
  let heldUntil = 0;
  let usedAt = 0;

  const isSlow = (now: number) => {
    const [oldest] = started.values();
    return oldest !== undefined && now - oldest > limits.slowMs;
  };
  const isHeld = (now: number) => now < heldUntil;
  const usable = () => (holds > 0 ? 1 : Math.floor(slots));
  return {
    isHeld,
    heldUntil: () => heldUntil,
    inFlight: () => started.size,
    state: (now: number): EndpointState => {
      if (isHeld(now)) return 'held';
      if (holds > 0) return 'probed';
      if (failures > 0) return 'failing';
      return isSlow(now) ? 'slow' : 'sound';
    },
    /** Whether it answers, and promptly. */
    isSound: (now: number) => failures === 0 && !isSlow(now),
    /** Whether it was not tried for so long that nothing known of it matters any more. */
    isStale: (now: number) => started.size === 0 && now - Math.max(usedAt, heldUntil) > limits.maxHoldMs,
    /** How many deliveries may be kept in memory for it. */
    share: (now: number) => {
      if (isHeld(now)) return 0;
      if (holds > 0) return 1;
      return isSlow(now) ? limits.slots : Math.floor(slots) * limits.heldPerSlot;
    },
    /** Whether one more attempt may start, of `atMost` at once. */
    mayStart: (now: number, atMost = limits.maxSlots) => !isHeld(now) && started.size < Math.min(usable(), atMost),
    start: (attempt: object, now: number) => {
      usedAt = now;
      started.set(attempt, now);
    },
    /** The attempt was given up by ourselves, which says nothing of the endpoint. */
    abandon: (attempt: object) => {
      started.delete(attempt);
    },
    succeed: (attempt: object) => {
      started.delete(attempt);
      failures = 0;
      holds = 0;
      heldUntil = 0;
      slots = Math.min(limits.maxSlots, slots + 1 / slots);
    },
    /** Returns whether the endpoint is left alone from now on. */
    fail: (attempt: object, now: number): boolean => {
      started.delete(attempt);
      failures += 1;
      slots = Math.max(1, Math.floor(slots / 2));
      // Attempts that ran side by side fail together: that is one reason to hold, not many.
      if (failures < limits.failuresToHold || isHeld(now)) return false;
      heldUntil = now + Math.min(limits.maxHoldMs, limits.holdMs * 2 ** Math.min(holds, 30));
      holds += 1;
      return true;
    },
  };
};

export type Endpoint = ReturnType<typeof createEndpoint>;
