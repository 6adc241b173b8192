import type { Refresh } from './refresh.ts';
import { shareStream } from './shared-stream.ts';

const POLL_MS = 5_000;
const SLOWEST_POLL_MS = 60_000;
/** How long polling replaces a stream that was refused. */
const STREAM_AGAIN_MS = 60_000;
/** The server sends its time three times within this time. */
const SILENT_MS = 60_000;

/** The version of the page for a payment that does not exist. */
const GONE = 'none';

export interface Live {
  /** Shows the page as it is now, and tries again later if that fails. */
  readonly update: () => void;
}

/** Follows changes by server-sent events or polling while the page is visible. */
export const followChanges = ({
  refresh,
  onServerTime,
}: {
  refresh: Refresh;
  onServerTime: (ms: number) => void;
}): Live => {
  let poll: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let pollMs = POLL_MS;
  let hasStream = false;
  let streamAgainAt = 0;

  const stop = (): void => {
    hasStream = false;
    stream.close();
    clearTimeout(poll);
    clearTimeout(silence);
  };
  const isFollowed = (): boolean => document.visibilityState === 'visible' && refresh.version() !== GONE;
  const pollAfter = (ms: number): void => {
    clearTimeout(poll);
    poll = setTimeout(() => void pollOnce(), ms);
  };
  const update = async (): Promise<void> => {
    try {
      await refresh.now();
      pollMs = POLL_MS;
    } catch {
      pollMs = Math.min(SLOWEST_POLL_MS, pollMs * 2);
      // Also while the stream is open: its latest version is not shown yet.
      if (isFollowed()) pollAfter(pollMs);
    }
  };
  const pollOnce = async (): Promise<void> => {
    await update();
    if (!isFollowed() || hasStream) return;
    if (performance.now() >= streamAgainAt) openStream();
    else pollAfter(pollMs);
  };
  const onActivity = (): void => {
    clearTimeout(silence);
    // The connection may be gone without a sign, as after a change of the network.
    silence = setTimeout(startAgain, SILENT_MS);
  };
  const stream = shareStream({
    onEvent: ({ type, data }) => {
      onActivity();
      if (type === 'time') onServerTime(Number(data));
      else if (data !== refresh.version()) void update();
    },
    onRefused: () => {
      stop();
      streamAgainAt = performance.now() + STREAM_AGAIN_MS;
      if (isFollowed()) pollAfter(pollMs);
    },
  });
  const openStream = (): void => {
    if (typeof EventSource === 'undefined') return pollAfter(pollMs);
    hasStream = true;
    onActivity();
    stream.open();
  };
  const start = (): void => {
    stop();
    if (isFollowed()) openStream();
  };
  const startAgain = (): void => {
    start();
    if (isFollowed()) void update();
  };
  document.addEventListener('visibilitychange', startAgain);
  addEventListener('online', startAgain);
  addEventListener('pagehide', stop);
  addEventListener('pageshow', ({ persisted }) => persisted && startAgain());
  start();
  return { update: () => void update() };
};
