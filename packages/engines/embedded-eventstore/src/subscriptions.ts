import { randomUUID } from 'node:crypto';
import type { EventFilter } from './event-filter.ts';
import { NO_REVISION, type RecordedEvent, TOMBSTONE } from './events.ts';
import { createPause, type ReadMessage } from './read.ts';
import { streamDeleted } from './refusals.ts';
import { PAGE_EVENTS } from './storage/reader.ts';
import type { Store } from './store.ts';

export interface AllSubscription {
  /** Position before the first event. */
  readonly from: 'start' | 'end' | bigint;
  readonly filter?: {
    readonly matches: EventFilter;
    /** A checkpoint is sent after this many events of the log, whether they match or not. */
    readonly checkpointInterval: number;
  };
}

/** Yields every event of the log after `from`, once and in order: first pages of the database, then new events from
 *  memory. Its only state is a position, so the switch between the two leaves no gap and repeats nothing. */
export async function* subscribeToAll(
  { reader, live }: Store,
  { from, filter }: AllSubscription,
  signal: AbortSignal,
): AsyncGenerator<ReadMessage> {
  let position = from === 'start' ? 0n : from === 'end' ? live.head : from;
  let isLive = false;
  let hasEvents = false;
  let sinceCheckpoint = 0;
  let pause = createPause();

  yield { kind: 'confirmation', subscriptionId: randomUUID() };
  while (!signal.aborted) {
    let events: readonly RecordedEvent[] | null = live.after(position, PAGE_EVENTS);
    if (!events) {
      isLive = false;
      const end = live.head;
      events = await reader.allForwards(position);
      if (events.length === 0) position = end; // what lay between was removed
    }
    for (const event of events) {
      position = event.position;
      if (filter) await pause();
      if (!filter || filter.matches(event)) yield { kind: 'event', event };
      if (filter && ++sinceCheckpoint >= filter.checkpointInterval) {
        sinceCheckpoint = 0;
        yield { kind: 'checkpoint', position };
      }
    }
    hasEvents ||= events.length > 0;
    if (position < live.head) continue;
    if (!isLive) {
      isLive = true;
      if (filter && hasEvents) yield { kind: 'checkpoint', position };
      yield { kind: 'caught-up' };
    }
    await live.waitForChange(position, signal);
    pause = createPause(); // a new event is sent at once
  }
}

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
