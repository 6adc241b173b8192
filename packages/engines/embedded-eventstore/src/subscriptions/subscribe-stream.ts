import { randomUUID } from 'node:crypto';
import { NO_REVISION, type RecordedEvent, TOMBSTONE } from '../events.ts';
import { streamDeleted } from '../refusals.ts';
import { PAGE_EVENTS } from '../storage/reader.ts';
import type { Store } from '../store.ts';
import type { ReadMessage } from '../read-message.ts';

export interface StreamSubscription {
  readonly stream: string;
  /** Revision before the first event. */
  readonly from: 'start' | 'end' | bigint;
}

/** Yields every event of one stream after `from`, once and in order. The stream need not exist yet.
 *  Throws `stream-deleted` at a tombstone. */
export async function* subscribeToStream(
  { reader, live }: Store,
  { stream, from }: StreamSubscription,
  signal: AbortSignal,
): AsyncGenerator<ReadMessage> {
  /** Position in the log up to which the stream was read. Null while the database has to be read. */
  let covered: bigint | null = null;
  let revision = from === 'start' ? NO_REVISION : from === 'end' ? TOMBSTONE : from;

  yield { kind: 'confirmation', subscriptionId: randomUUID() };
  if (from === 'end') {
    covered = live.head; // before the query: events committed in between are skipped by their revision
    const end = await reader.streamBackwards(stream, TOMBSTONE, 1);
    if (end.status === 'deleted') throw streamDeleted(stream);
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
      if (page.status === 'deleted') throw streamDeleted(stream);
      if (page.isEnd) covered = head;
      events = page.events;
      // Skips events that are past their `$maxAge`.
      if (page.next - 1n > revision && events.length === 0) revision = page.next - 1n;
    }
    for (const event of events) {
      revision = event.revision;
      yield { kind: 'event', event };
      if (revision === TOMBSTONE) throw streamDeleted(stream);
    }
    if (covered === null) continue;
    if (!recent) yield { kind: 'caught-up' };
    await live.waitForChange(covered, signal);
  }
}
