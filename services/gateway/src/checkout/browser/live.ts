import type { Refresh } from './refresh.ts';

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

/** An event of a page from the server: its version (`changed`), or its own time (`time`). */
export interface ServerEvent {
  readonly type: 'changed' | 'time';
  readonly data: string;
}

interface SharedStream {
  /** Opens the stream, or listens to the tab that has it. */
  readonly open: () => void;
  readonly close: () => void;
}

interface SharedStreamOptions {
  readonly onEvent: (event: ServerEvent) => void;
  /** The server refused the stream, or this browser can have none, or no more of them. */
  readonly onRefused: () => void;
}

/** Browsers open six connections to a host over HTTP/1.1, and pages need some to load. */
const STREAMS_PER_BROWSER = 3;
const TYPES = ['changed', 'time'] as const;

/** One stream of events for all tabs of a page: the tab that holds the lock of the page has the stream, and passes each
 *  event on. Web Locks need a secure context; without them there is no stream. */
export const shareStream = ({ onEvent, onRefused }: SharedStreamOptions): SharedStream => {
  const { pathname } = location;
  const name = `stream ${pathname}`;
  const canShare = 'locks' in navigator && typeof BroadcastChannel !== 'undefined';
  let stream: EventSource | undefined;
  let channel: BroadcastChannel | undefined;
  /** The state that a tab needs that opens later. */
  let latest: ServerEvent | undefined;
  /** Aborted when this tab no longer wants the stream. */
  let turn: AbortController | undefined;

  const close = (): void => {
    stream?.close();
    stream = undefined;
    channel?.close();
    channel = undefined;
    turn?.abort();
    turn = undefined;
  };
  const connect = (): void => {
    stream = new EventSource(`${pathname}/events`);
    for (const type of TYPES)
      stream.addEventListener(type, ({ data }: MessageEvent<string>) => {
        const event = { type, data };
        if (type === 'changed') latest = event;
        channel?.postMessage(event);
        onEvent(event);
      });
    stream.addEventListener('error', () => {
      // Otherwise the browser connects again by itself.
      if (stream?.readyState !== EventSource.CLOSED) return;
      close();
      onRefused();
    });
  };
  /** Takes one of the streams of this browser, and has it until the turn ends. */
  const lead = async ({ signal }: AbortController): Promise<void> => {
    for (let n = 1; n <= STREAMS_PER_BROWSER && !signal.aborted; n += 1) {
      const isFree = await navigator.locks.request(`stream ${n}`, { ifAvailable: true }, async (lock) => {
        if (!lock || signal.aborted) return false;
        connect();
        await ended(signal);
        return true;
      });
      if (isFree) return;
    }
    if (signal.aborted) return;
    close();
    onRefused();
  };
  const open = (): void => {
    close();
    if (!canShare) return onRefused();
    const mine = (turn = new AbortController());
    channel = new BroadcastChannel(name);
    channel.addEventListener('message', ({ data }: MessageEvent<ServerEvent | 'hello'>) => {
      if (data !== 'hello') onEvent(data);
      else if (stream && latest) channel?.postMessage(latest);
    });
    // This tab may show an older state than that of the latest event.
    channel.postMessage('hello');
    // Rejects when this tab ends its turn before it had the lock.
    navigator.locks.request(name, { signal: mine.signal }, () => lead(mine)).catch(() => {});
  };
  return { open, close };
};

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
