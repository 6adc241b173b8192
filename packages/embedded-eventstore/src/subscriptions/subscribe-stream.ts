import { randomUUID } from 'node:crypto';
import { NO_REVISION, type RecordedEvent, TOMBSTONE } from '../events.ts';
import { RefusedError } from '../refusals.ts';
import { PAGE_EVENTS } from '../storage/reader.ts';
import type { Store } from '../store.ts';
import type { ReadMessage } from './messages.ts';

export interface StreamSubscription {
  readonly stream: string;
  /** The first event is the one after this revision. */
  readonly from: 'start' | 'end' | bigint;
}

/** Every event of one stream after `from`, once and in order; the stream may come into being later. Ends with
 *  `stream-deleted` at a tombstone. */
export async function* subscribeToStream(
  { reader, live }: Store,
  { stream, from }: StreamSubscription,
  signal: AbortSignal,
): AsyncGenerator<ReadMessage> {
  /** Position up to which this stream was read; null while it has to be read from the database. */
  let covered: bigint | null = null;
  let revision = from === 'start' ? NO_REVISION : from === 'end' ? TOMBSTONE : from;

  yield { kind: 'confirmation', subscriptionId: randomUUID() };
  if (from === 'end') {
    covered = live.head; // before the look-up: what is committed in between is then skipped by its revision
    const end = await reader.streamBackwards(stream, TOMBSTONE, 1);
    if (end.status === 'deleted') throw new RefusedError({ kind: 'stream-deleted', stream });
    revision = end.last;
    yield { kind: 'caught-up' };
  }
  while (!signal.aborted) {
    let events: readonly RecordedEvent[];
    const recent: readonly RecordedEvent[] | null = covered === null ? null : live.after(covered, PAGE_EVENTS);
    if (recent) {
      covered = recent.at(-1)?.position ?? covered;
      events = recent.filter((event) => event.stream === stream && event.revision > revision);
    } else {
      covered = null;
      const head = live.head;
      const page = await reader.streamForwards(stream, revision + 1n);
      if (page.status === 'deleted') throw new RefusedError({ kind: 'stream-deleted', stream });
      if (page.isEnd) covered = head;
      events = page.events;
      // Events that are too old to be read do not come again.
      if (page.next - 1n > revision && events.length === 0) revision = page.next - 1n;
    }
    for (const event of events) {
      revision = event.revision;
      yield { kind: 'event', event };
      if (revision === TOMBSTONE) throw new RefusedError({ kind: 'stream-deleted', stream });
    }
    if (covered === null) continue;
    if (!recent) yield { kind: 'caught-up' };
    await live.changed(covered, signal);
  }
}
