/** What happened in one window. */
export interface Measured {
  readonly medianMs: number;
  /** Requests per second that were answered. */
  readonly perSecond: number;
}

const WINDOW_MS = 250;
/** Fewer latencies than this say little: the window is extended. */
const MIN_LATENCIES = 10;

/** Collects latencies in consecutive windows of time and passes the measured values of each to `onEnd`. */
export const timeWindow = (startMs: number, onEnd: (measured: Measured) => void) => {
  let latenciesMs: number[] = [];
  let answered = 0;
  let startedMs = startMs;
  return {
    add: (latencyMs: number, isAnswered: boolean, atMs: number): void => {
      latenciesMs.push(latencyMs);
      if (isAnswered) answered += 1;
      const elapsedMs = atMs - startedMs;
      if (elapsedMs < WINDOW_MS || latenciesMs.length < MIN_LATENCIES) return;
      const medianMs = latenciesMs.sort((a, b) => a - b)[Math.floor(latenciesMs.length / 2)]!;
      const perSecond = (answered * 1_000) / elapsedMs;
      latenciesMs = [];
      answered = 0;
      startedMs = atMs;
      onEnd({ medianMs, perSecond });
    },
  };
};
