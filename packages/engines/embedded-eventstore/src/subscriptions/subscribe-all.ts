import { randomUUID } from 'node:crypto';
import type { RecordedEvent } from '../events.ts';
import type { EventFilter } from '../event-filter.ts';
import { createPause } from '../pause.ts';
import { PAGE_EVENTS } from '../storage/reader.ts';
import type { Store } from '../store.ts';
import type { ReadMessage } from '../read-message.ts';

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
