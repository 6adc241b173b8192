import { setImmediate } from 'node:timers/promises';
import type { EventFilter } from './event-filter.ts';
import { type RecordedEvent, TOMBSTONE } from './events.ts';
import { RefusedError, streamDeleted } from './refusals.ts';
import { PAGE_EVENTS, type Reader } from './storage/reader.ts';

export interface StreamRead {
  readonly stream: string;
  readonly direction: 'forwards' | 'backwards';
  /** Revision to start at, inclusive. */
  readonly from: 'start' | 'end' | bigint;
  readonly maxCount: bigint;
  /** Whether the client understands messages with the first and last stream position. */
  readonly includePositions: boolean;
}

/** Reads up to `maxCount` events of one stream. Throws `stream-deleted` for a tombstoned stream. */
export async function* readStream(reader: Reader, read: StreamRead): AsyncGenerator<ReadMessage> {
  const { stream, direction, from, maxCount, includePositions } = read;
  const forwards = direction === 'forwards';
  let next = from === 'start' ? 0n : from === 'end' ? TOMBSTONE : from;
  let left = maxCount;
  for (let isFirst = true; ; isFirst = false) {
    const limit = Number(left < PAGE_EVENTS ? left : PAGE_EVENTS);
    const page = await (forwards
      ? reader.streamForwards(stream, next, limit)
      : reader.streamBackwards(stream, next, limit));
    if (page.status === 'deleted') throw streamDeleted(stream);
    if (page.status === 'not-found') {
      yield { kind: 'stream-not-found', stream };
      return;
    }
    if (forwards && from === 'end') throw new RefusedError({ kind: 'unexpected-read' }); // as in EventStoreDB
    if (includePositions && forwards && isFirst && page.events.length === 0) {
      yield { kind: 'first-stream-position', revision: page.last + 1n };
    }
    for (const event of page.events) yield { kind: 'event', event };
    left -= BigInt(page.events.length);
    next = page.next;
    if (!page.isEnd && left > 0n) continue;
    if (includePositions) yield { kind: 'last-stream-position', revision: page.last };
    return;
  }
}

export interface AllRead {
  readonly direction: 'forwards' | 'backwards';
  /** Position to start at: inclusive forwards, exclusive backwards. */
  readonly from: 'start' | 'end' | bigint;
  readonly maxCount: bigint;
  readonly filter?: EventFilter | undefined;
}

/** Reads up to `maxCount` events of the log of all streams. */
export async function* readAll(
  reader: Reader,
  { direction, from, maxCount, filter }: AllRead,
  signal: AbortSignal,
): AsyncGenerator<ReadMessage> {
  const forwards = direction === 'forwards';
  let next = from === 'start' ? 0n : from === 'end' ? TOMBSTONE : forwards ? from - 1n : from;
  let left = maxCount;
  const pause = createPause();
  while (left > 0n && !signal.aborted) {
    const limit = Number(filter || left > PAGE_EVENTS ? PAGE_EVENTS : left);
    const page = await (forwards ? reader.allForwards(next, limit) : reader.allBackwards(next, limit));
    if (page.length === 0) return;
    for (const event of page) {
      next = event.position;
      if (filter) await pause();
      if (filter && !filter(event)) continue;
      yield { kind: 'event', event };
      if (--left === 0n) return;
    }
  }
}

/** A message to the reader of a stream or of $all, named as in the protocol. */
export type ReadMessage =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'confirmation'; readonly subscriptionId: string }
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'stream-not-found'; readonly stream: string }
  | { readonly kind: 'first-stream-position'; readonly revision: bigint }
  | { readonly kind: 'last-stream-position'; readonly revision: bigint };

const MAX_BUSY_MS = 20;

/** Returns a function for a long loop. It lets other calls run whenever the loop has kept the process busy for 20
 *  ms. */
export const createPause = (): (() => Promise<void> | undefined) => {
  let since = performance.now();
  return () => {
    if (performance.now() - since < MAX_BUSY_MS) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
};
