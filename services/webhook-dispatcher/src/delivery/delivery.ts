/** What merchants are told of one event. `body` is the bytes of every attempt, to every endpoint; none when it is no longer kept. */
export interface StoredEvent {
  readonly id: string;
  /** When it happened, Unix milliseconds: `timestamp` of the body. */
  readonly occurredMs: number;
  /** The event's number on its stream. */
  readonly sequence: string;
  readonly body: Buffer;
}

/** One event on its way to one webhook, leased to this instance. */
export interface Delivery {
  /** Its place in the queue: a lower one was taken in earlier. */
  readonly position: string;
  readonly id: string;
  /** UTC day of the event, `2026-01-31`: the partition of its rows. */
  readonly day: string;
  readonly webhookId: string;
  readonly orderId: string;
  /** Attempts made before, of those that the schedule has. */
  readonly attempts: number;
  /** Attempts made before it was queued anew, by a redelivery or a replay; null when it never was. */
  readonly attemptsBefore: number | null;
  /** A test goes to a disabled webhook too. */
  readonly isTest: boolean;
  readonly event: StoredEvent;
}

/** Deliveries of one lane make their first attempts one after another. */
export const laneOf = ({ webhookId, orderId }: Pick<Delivery, 'webhookId' | 'orderId'>): string =>
  `${webhookId} ${orderId}`;

/** One HTTP request and what came of it. */
export interface Attempt {
  readonly outcome: 'delivered' | 'refused' | 'timed_out' | 'unreachable' | 'blocked';
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly statusCode?: number | undefined;
  readonly error?: string | undefined;
  /** The first bytes of the response's body, as text. */
  readonly response?: string | undefined;
  readonly retryAfter?: string | undefined;
}

/** What an attempt means for its delivery. `dropped` made no attempt. */
export interface Result {
  readonly delivery: Delivery;
  readonly attempt: Attempt | null;
  readonly status: 'pending' | 'delivered' | 'failed';
  /** When it is tried again; null unless `pending`. */
  readonly nextAt: Date | null;
}
