/** An event as merchants receive it. */
export interface StoredEvent {
  readonly id: string;
  /** When it happened, Unix milliseconds: the `timestamp` of the body. */
  readonly occurredMs: number;
  /** The event's number in its stream. */
  readonly sequence: string;
  /** The hash of the recorded event; null for a sample, which is not recorded. */
  readonly hash: string | null;
  /** The bytes of every attempt to every endpoint; empty once retention has deleted them. */
  readonly body: Buffer;
}

/** One event for one webhook, leased to this instance. */
export interface Delivery {
  /** Its number in the queue: earlier events have lower ones. */
  readonly position: string;
  readonly id: string;
  /** UTC day whose partition holds its rows, `2026-01-31`: the day of the event, or of the replay that stored it
   *  again. */
  readonly day: string;
  readonly webhookId: string;
  readonly orderId: string;
  /** Attempts made so far under the current schedule. */
  readonly attempts: number;
  /** Attempts made before the last redelivery or replay restarted the schedule; null if there was none. */
  readonly attemptsBefore: number | null;
  /** Test deliveries go to disabled webhooks too. */
  readonly isTest: boolean;
  readonly event: StoredEvent;
}

/** One HTTP request and its outcome. */
export interface Attempt {
  readonly outcome: 'delivered' | 'refused' | 'timed_out' | 'unreachable' | 'blocked';
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly statusCode?: number | undefined;
  readonly error?: string | undefined;
  /** The first bytes of the response's body, as text. */
  readonly response?: string | undefined;
  /** The response's Retry-After header. */
  readonly retryAfter?: string | undefined;
}

/** The new state of a delivery. */
export interface Result {
  readonly delivery: Delivery;
  /** Null when the delivery failed without an attempt: its webhook is deleted or its body no longer stored. */
  readonly attempt: Attempt | null;
  readonly status: 'pending' | 'delivered' | 'failed';
  /** When the next attempt is due; null unless `pending`. */
  readonly nextAt: Date | null;
}
