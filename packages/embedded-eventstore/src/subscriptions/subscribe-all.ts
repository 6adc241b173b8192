import { randomUUID } from 'node:crypto';
import type { RecordedEvent } from '../events.ts';
import type { EventFilter } from '../filter.ts';
import { PAGE_EVENTS } from '../storage/reader.ts';
import type { Store } from '../store.ts';
import type { ReadMessage } from './messages.ts';

export interface AllSubscription {
  /** The first event is the one after this position. */
  readonly from: 'start' | 'end' | bigint;
  readonly filter?: {
    readonly wants: EventFilter;
    /** A checkpoint is sent at least once per this many events of the log, wanted or not. */
    readonly checkpointInterval: number;
  };
}

/** Every event of the log after `from`, once and in order: pages of the database until the end of the log, then what
 *  is committed, from memory. A position is all that is remembered, so going live leaves no gap and repeats nothing. */
export async function* subscribeToAll(
  { reader, live }: Store,
  { from, filter }: AllSubscription,
  signal: AbortSignal,
): AsyncGenerator<ReadMessage> {
  let position = from === 'start' ? 0n : from === 'end' ? live.head : from;
  let isLive = false;
  let hasRead = false;
  let considered = 0;

  yield { kind: 'confirmation', subscriptionId: randomUUID() };
  while (!signal.aborted) {
    let events: readonly RecordedEvent[] | null = live.after(position, PAGE_EVENTS);
    if (!events) {
      isLive = false;
      events = await reader.allForwards(position);
    }
    for (const event of events) {
      position = event.position;
      if (!filter || filter.wants(event)) yield { kind: 'event', event };
      if (filter && ++considered >= filter.checkpointInterval) {
        considered = 0;
        yield { kind: 'checkpoint', position };
      }
    }
    hasRead ||= events.length > 0;
    if (position < live.head) continue;
    if (!isLive) {
      isLive = true;
      if (filter && hasRead) yield { kind: 'checkpoint', position };
      yield { kind: 'caught-up' };
    }
    await live.changed(position, signal);
  }
}
