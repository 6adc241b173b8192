import type { ResolvedEvent } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import { type DomainEvent, eventUuid, type Recorded } from '../store/recorded.ts';

/** A recorded event, and the state of its stream right after it. */
export interface EvolvedEvent<State, E extends DomainEvent> {
  readonly recorded: Recorded<E>;
  readonly state: State;
}

/** The events that this process appended lately, for its own readers of the log. They need not parse an event again
 *  that this process has just recorded, nor fold it into the state. */
export interface RecentEvents<State, E extends DomainEvent> {
  /** `bytes` estimates the memory of the state. */
  readonly add: (evolved: EvolvedEvent<State, E>, bytes: number) => void;
  /** The event of a log entry, which must have the same id. */
  readonly find: (entry: ResolvedEvent) => EvolvedEvent<State, E> | null;
  /** The state right after an event of a stream. */
  readonly stateAfter: (stream: string, revision: number) => State | null;
}

// Enough for the time that the relay and the projection are behind.
const MAX_EVENTS = 4_000;
const MAX_BYTES = 32 * 1024 * 1024;

export const recentEvents = <State, E extends DomainEvent>(): RecentEvents<State, E> => {
  const events = new LRUCache<string, EvolvedEvent<State, E> & { readonly uuid: string }>({
    max: MAX_EVENTS,
    maxSize: MAX_BYTES,
  });
  const keyOf = (stream: string, revision: number | bigint) => `${revision}@${stream}`;
  return {
    add: (evolved, bytes) => {
      const { stream, revision, id } = evolved.recorded;
      events.set(keyOf(stream, revision), { ...evolved, uuid: eventUuid(id).toLowerCase() }, { size: bytes });
    },
    find: ({ event }) => {
      if (!event) return null;
      const found = events.get(keyOf(event.streamId, event.revision));
      return found?.uuid === event.id ? found : null;
    },
    stateAfter: (stream, revision) => events.get(keyOf(stream, revision))?.state ?? null,
  };
};
