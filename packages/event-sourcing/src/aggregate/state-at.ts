import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import type { Decider } from '../decider.ts';
import { UnreadableEventError } from '../store/errors.ts';
import { type DomainEvent, eventUuid, parseRecorded, type Recorded } from '../store/recorded.ts';
import { eachEvent } from '../store/stream.ts';

/** All methods throw UnreadableEventError for an event that cannot be parsed or folded. */
export interface StateAt<State, E extends DomainEvent> {
  /** The event of a log entry, with the state right after it; null when its stream is deleted by now. */
  readonly read: (entry: ResolvedEvent) => Promise<EvolvedEvent<State, E> | null>;
  /** The state right after an event, or null when its stream is deleted by now. */
  readonly after: (recorded: Recorded<E>) => Promise<State | null>;
  /** The state right before an event, or null when its stream is deleted by now. */
  readonly before: (recorded: Recorded<E>) => Promise<State | null>;
}

/** Computes the state of streams around events of the log. For consecutive events of a stream this costs one `evolve`
 *  each, and for those in `recent` nothing; otherwise it reads the stream. */
export const stateAt = <State, E extends DomainEvent>({
  client,
  decider,
  schema,
  recent,
}: {
  client: EventStoreDBClient;
  decider: Pick<Decider<State, never, E>, 'initial' | 'evolve'>;
  schema: z.ZodType<E>;
  recent?: RecentEvents<State, E> | undefined;
}): StateAt<State, E> => {
  const cache = streamCache<{ revision: number; state: State }>();

  /** The state after the first `count` events of a stream. */
  const stateOf = async (stream: string, count: number): Promise<State | null> => {
    if (count === 0) return decider.initial;
    const cached = cache.get(stream);
    if (cached?.revision === count - 1) return cached.state;
    const known = recent?.stateAfter(stream, count - 1);
    if (known != null) return known;
    let state = decider.initial;
    const fold = (recorded: Recorded<E>) => {
      state = evolveRecorded(decider, state, recorded);
    };
    const exists = await eachEvent(client, stream, schema, fold, { maxCount: count });
    return exists ? state : null;
  };

  // Revisions count from 0: this many events come before it.
  const before = ({ stream, revision }: Recorded<E>) => stateOf(stream, revision);

  const after = async (recorded: Recorded<E>): Promise<State | null> => {
    const { stream, revision } = recorded;
    const previous = await before(recorded);
    if (previous === null) return null;
    const state = evolveRecorded(decider, previous, recorded);
    cache.set(stream, { revision, state });
    return state;
  };

  return {
    before,
    after,
    read: async (entry) => {
      const known = recent?.find(entry);
      if (known) return known;
      const recorded = parseRecorded(schema, entry);
      const state = await after(recorded);
      return state === null ? null : { recorded, state };
    },
  };
};

/** The state after a recorded event. Throws UnreadableEventError when `evolve` fails. */
export const evolveRecorded = <State, E extends DomainEvent>(
  { evolve }: Pick<Decider<State, never, E>, 'evolve'>,
  state: State,
  { stream, revision, event }: Pick<Recorded<E>, 'stream' | 'revision' | 'event'>,
): State => {
  try {
    return evolve(state, event);
  } catch (error) {
    throw new UnreadableEventError({ stream, revision, type: event.type }, error);
  }
};

const MAX_ENTRIES = 5_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** An LRU cache of values by stream name, bounded in bytes because clients decide how large a state gets. */
export const streamCache = <T extends object>(): LRUCache<string, T> =>
  new LRUCache<string, T>({ max: MAX_ENTRIES, maxSize: MAX_BYTES, sizeCalculation: estimateBytes });

/** Estimates the bytes of memory that a value of plain objects and arrays takes, by the usual sizes of V8. Property
 *  names are shared between objects and count for nothing. */
export const estimateBytes = (value: unknown): number => {
  if (typeof value === 'string') return 24 + value.length;
  if (typeof value !== 'object' || value === null) return 16;
  let bytes = 32;
  for (const inner of Object.values(value)) bytes += estimateBytes(inner);
  return bytes;
};

/** A recorded event, and the state of its stream right after it. */
interface EvolvedEvent<State, E extends DomainEvent> {
  readonly recorded: Recorded<E>;
  readonly state: State;
}

/** The events that this process appended lately, for its own readers of the log. They need not parse an event again
 *  that this process has just recorded, nor fold it into the state. */
export interface RecentEvents<State, E extends DomainEvent> {
  /** `bytes` estimates the memory of the state. */
  readonly add: (evolved: EvolvedEvent<State, E>, bytes: number) => void;
  /** The event of a log entry; null if it is not recent, or if the log has another one there. */
  readonly find: (entry: ResolvedEvent) => EvolvedEvent<State, E> | null;
  /** The state right after an event of a stream. */
  readonly stateAfter: (stream: string, revision: number) => State | null;
}

// Enough for the time that the relay and the projection are behind.
const MAX_EVENTS = 4_000;
const MAX_EVENT_BYTES = 32 * 1024 * 1024;

export const recentEvents = <State, E extends DomainEvent>(): RecentEvents<State, E> => {
  const events = new LRUCache<string, EvolvedEvent<State, E> & { readonly uuid: string }>({
    max: MAX_EVENTS,
    maxSize: MAX_EVENT_BYTES,
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
