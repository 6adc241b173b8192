/** An event of a page from the server: its version (`changed`), or its own time (`time`). */
export interface ServerEvent {
  readonly type: 'changed' | 'time';
  readonly data: string;
}

export interface SharedStream {
  /** Opens the stream, or listens to the tab that has it. */
  readonly open: () => void;
  readonly close: () => void;
}

export interface SharedStreamOptions {
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
