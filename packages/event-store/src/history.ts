import type { HistoryPage } from '@cpg/contracts';
import type { Decider } from '@cpg/core';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { z } from 'zod';
import type { DomainEvent, Recorded } from './recorded.ts';
import { eventsOf } from './stream.ts';

export interface HistoryOptions<State, E extends DomainEvent, M> {
  readonly client: EventStoreDBClient;
  readonly decider: Pick<Decider<State, never, E>, 'initial' | 'evolve'>;
  readonly schema: z.ZodType<E>;
  /** What is told of an event that led to this state; null when nothing is. */
  readonly messageOf: (recorded: Recorded<E>, state: State) => M | null;
}

/** Instants in ISO 8601 with milliseconds, both inclusive; `after` is the place of the last message that is known
 *  already. */
export interface HistoryRange {
  readonly from: string;
  readonly to: string;
  readonly after?: string | undefined;
}

export interface HistoryStream {
  readonly name: string;
  /** Nothing on it happened before. */
  readonly startedAt: string;
}

const MESSAGES_AT_MOST = 50;
/** Of JSON, but for a message that is larger by itself. */
const CHARACTERS_AT_MOST = 256 * 1024;

/** Reads some streams, given by when they begin, as one history: what happened in the range, in order of places. A
 *  place is when the event happened, or the latest one before it on its stream if that is later, for a stream keeps its
 *  own order. Places compare as text, also those of other services. Memory is bounded by the page, whatever the streams
 *  hold. */
export const readHistory = async <State, E extends DomainEvent & { data: { at: string } }, M>(
  { client, decider, schema, messageOf }: HistoryOptions<State, E, M>,
  streams: readonly HistoryStream[],
  { from, to, after = '' }: HistoryRange,
): Promise<HistoryPage<M>> => {
  const page = boundedPage<M>();
  for (const { name, startedAt: since } of streams) {
    if (page.endsBefore(since)) break;
    let state = decider.initial;
    let furthest = '';
    for await (const recorded of eventsOf(client, name, schema)) {
      const { id, event, revision } = recorded;
      const { at } = event.data;
      state = decider.evolve(state, event);
      if (`${at} ${id}` > furthest) furthest = `${at} ${id}`;
      const place = `${furthest} ${String(revision).padStart(10, '0')}`;
      if (place <= after || at < from || at > to) continue;
      const message = messageOf(recorded, state);
      if (message !== null && !page.add(place, message)) break;
    }
  }
  return page.result();
};

/** The first messages of what is added, as many as fit. */
const boundedPage = <M>() => {
  const entries: { place: string; message: M; size: number }[] = [];
  let size = 0;
  // What comes from here on is for the next page.
  let end: string | null = null;
  const isOver = () => entries.length > MESSAGES_AT_MOST || (size > CHARACTERS_AT_MOST && entries.length > 1);
  return {
    /** False when this one is not among them, nor any that comes later. */
    add: (place: string, message: M): boolean => {
      if (end !== null && place >= end) return false;
      const entry = { place, message, size: JSON.stringify(message).length };
      const index = entries.findIndex((other) => other.place > place);
      entries.splice(index < 0 ? entries.length : index, 0, entry);
      size += entry.size;
      while (isOver()) {
        const last = entries.pop()!;
        size -= last.size;
        end = last.place;
      }
      return end === null || place < end;
    },
    endsBefore: (instant: string): boolean => end !== null && instant > end,
    result: (): HistoryPage<M> => ({
      messages: entries.map(({ place, message }) => ({ place, message })),
      more: end !== null,
    }),
  };
};
