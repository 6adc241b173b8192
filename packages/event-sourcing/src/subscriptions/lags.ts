import { lagMetric, type MetricsRegistry, wallClockMs } from '@cpg/platform';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';

/** Measures how far the shards that this process leads are behind, by checkpoint. */
export interface Lags {
  readonly measure: (checkpoint: string) => Lag;
}

interface Lag {
  readonly received: (events: readonly AllStreamResolvedEvent[]) => void;
  /** All received events are completed. */
  readonly completed: () => void;
  /** This process does not lead the shard any more. */
  readonly end: () => void;
}

/** Shows the lags as the metric `subscription_lag_seconds`. */
export const createLags = (registry: MetricsRegistry, now: () => number = wallClockMs): Lags => {
  /** When the oldest event was recorded that is received and not completed; null without one. */
  const oldest = new Map<string, Date | null>();
  lagMetric(registry, () =>
    [...oldest].map(([checkpoint, since]) => [checkpoint, since ? Math.max(0, now() - since.getTime()) / 1_000 : 0]),
  );
  return {
    measure: (checkpoint) => {
      oldest.set(checkpoint, null);
      return {
        received: ([first]) => {
          if (first?.event && !oldest.get(checkpoint)) oldest.set(checkpoint, first.event.created);
        },
        completed: () => void oldest.set(checkpoint, null),
        end: () => void oldest.delete(checkpoint),
      };
    },
  };
};
