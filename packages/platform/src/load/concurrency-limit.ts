export interface ConcurrencyLimitOptions {
  /** The median latency that the limit aims at. */
  readonly targetMs?: number;
  readonly initial?: number;
  readonly min?: number;
  readonly max?: number;
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
}

/** How a request ended: `done`, `late` if it got no answer in time, or `failed`. The latency of a failure says nothing
 *  about the load. */
export type RequestEnd = 'done' | 'late' | 'failed';

/** Ends an admitted request. Further calls change nothing. `clientMs` of its time were the client's, who sent its body:
 *  they say nothing about the load. */
export type EndRequest = (end: RequestEnd, clientMs?: number) => void;

export interface ConcurrencyLimit {
  /** Admits a request of `owner`, or returns null: the request must be refused. */
  readonly admit: (owner: string) => EndRequest | null;
  readonly limit: () => number;
  readonly inProgress: () => number;
}

const TARGET_MS = 300;
const INITIAL = 128;
/** Bursts of so many requests are admitted even after a service was slow. */
const MIN = 32;
const MAX = 1_024;
/** Bounds of one step: a single slow window must not close the door, and a single fast one not open it. */
const SHRINK_AT_MOST = 0.7;
const GROW_AT_MOST = 1.25;
/** Growth without load below the initial limit: a short stall must not lower it for good. */
const RETURN_BY = 1.01;
/** More than the limit may be in progress, because each owner gets its share, but not more than this many times. */
const OVERFLOW = 2;

/** Limits the requests in progress to the number that the service answers within `targetMs`: its measured throughput
 *  times `targetMs` (Little's law). After each window the limit moves there: down while the median latency is above the
 *  target, up while it is below and the limit is used. The throughput without load says nothing about more load. Once
 *  the limit is reached, an owner is admitted while it has less than its fair share of it in progress. */
export const createConcurrencyLimit = ({
  targetMs = TARGET_MS,
  initial = INITIAL,
  min = MIN,
  max = MAX,
  nowMs = () => performance.now(),
}: ConcurrencyLimitOptions = {}): ConcurrencyLimit => {
  const byOwner = new Map<string, number>();
  let limit = initial;
  let inProgress = 0;
  let peak = 0;

  const adjust = ({ medianMs, perSecond }: Measured): void => {
    const answeredWithinTarget = (perSecond * targetMs) / 1_000;
    const ratio = Math.min(GROW_AT_MOST, Math.max(SHRINK_AT_MOST, answeredWithinTarget / limit));
    const isSlow = medianMs > targetMs;
    const wasUsed = peak >= limit / 2;
    if (isSlow ? ratio < 1 : wasUsed && ratio > 1) limit = Math.min(max, Math.max(min, limit * ratio));
    else if (!isSlow && !wasUsed && limit < initial) limit = Math.min(initial, limit * RETURN_BY);
    peak = inProgress;
  };
  const window = timeWindow(nowMs(), adjust);

  const hasRoom = (owner: string, own: number): boolean => {
    if (inProgress < Math.floor(limit)) return true;
    const owners = byOwner.size + (byOwner.has(owner) ? 0 : 1);
    return own < Math.floor(limit / owners) && inProgress < limit * OVERFLOW;
  };

  return {
    admit: (owner) => {
      const own = byOwner.get(owner) ?? 0;
      if (!hasRoom(owner, own)) return null;
      byOwner.set(owner, own + 1);
      inProgress += 1;
      peak = Math.max(peak, inProgress);
      const startedMs = nowMs();
      let hasEnded = false;
      return (end, clientMs = 0) => {
        if (hasEnded) return;
        hasEnded = true;
        inProgress -= 1;
        const left = byOwner.get(owner)! - 1;
        if (left > 0) byOwner.set(owner, left);
        else byOwner.delete(owner);
        const endedMs = nowMs();
        if (end !== 'failed') window.add(endedMs - startedMs - clientMs, end === 'done', endedMs);
      };
    },
    limit: () => Math.floor(limit),
    inProgress: () => inProgress,
  };
};

/** The results of the calls in one window. */
interface Measured {
  readonly medianMs: number;
  /** Requests per second that were answered. */
  readonly perSecond: number;
}

const WINDOW_MS = 250;
/** Fewer latencies than this say little: the window is extended. */
const MIN_LATENCIES = 10;

/** Collects latencies in consecutive windows of time and passes the measured values of each to `onEnd`. */
const timeWindow = (startMs: number, onEnd: (measured: Measured) => void) => {
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
