import { TOMBSTONE } from './events.ts';
import type { EventFilter } from './filter.ts';
import { RefusedError } from './refusals.ts';
import { PAGE_EVENTS, type Reader } from './storage/reader.ts';
import type { ReadMessage } from './subscriptions/messages.ts';

export interface StreamRead {
  readonly stream: string;
  readonly direction: 'forwards' | 'backwards';
  /** The first event to read, inclusive. */
  readonly from: 'start' | 'end' | bigint;
  readonly maxCount: bigint;
  /** True if the client understands first and last stream positions. */
  readonly tellsPositions: boolean;
}

/** Events of one stream, then the end. Throws `stream-deleted` for one with a tombstone. */
export async function* readStream(reader: Reader, read: StreamRead): AsyncGenerator<ReadMessage> {
  const { stream, direction, from, maxCount, tellsPositions } = read;
  const forwards = direction === 'forwards';
  let next = from === 'start' ? 0n : from === 'end' ? TOMBSTONE : from;
  let left = maxCount;
  for (let isFirst = true; ; isFirst = false) {
    const limit = Number(left < PAGE_EVENTS ? left : PAGE_EVENTS);
    const page = await (forwards
      ? reader.streamForwards(stream, next, limit)
      : reader.streamBackwards(stream, next, limit));
    if (page.status === 'deleted') throw new RefusedError({ kind: 'stream-deleted', stream });
    if (page.status === 'not-found') {
      yield { kind: 'stream-not-found', stream };
      return;
    }
    if (tellsPositions && forwards && isFirst && page.events.length === 0) {
      yield { kind: 'first-stream-position', revision: page.last + 1n };
    }
    for (const event of page.events) yield { kind: 'event', event };
    left -= BigInt(page.events.length);
    next = page.next;
    if (!page.isEnd && left > 0n) continue;
    if (tellsPositions) yield { kind: 'last-stream-position', revision: page.last };
    return;
  }
}

export interface AllRead {
  readonly direction: 'forwards' | 'backwards';
  /** Forwards the first event to read, inclusive; backwards the first not to read. */
  readonly from: 'start' | 'end' | bigint;
  readonly maxCount: bigint;
  readonly wants?: EventFilter;
}

/** Events of the whole log, then the end. */
export async function* readAll(
  reader: Reader,
  { direction, from, maxCount, wants }: AllRead,
  signal: AbortSignal,
): AsyncGenerator<ReadMessage> {
  const forwards = direction === 'forwards';
  let next = from === 'start' ? 0n : from === 'end' ? TOMBSTONE : forwards ? from - 1n : from;
  let left = maxCount;
  while (left > 0n && !signal.aborted) {
    const limit = Number(wants || left > PAGE_EVENTS ? PAGE_EVENTS : left);
    const page = await (forwards ? reader.allForwards(next, limit) : reader.allBackwards(next, limit));
    if (page.length === 0) return;
    for (const event of page) {
      next = event.position;
      if (wants && !wants(event)) continue;
      yield { kind: 'event', event };
      if (--left === 0n) return;
    }
  }
}
