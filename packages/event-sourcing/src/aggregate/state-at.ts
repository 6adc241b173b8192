import type { Decider } from '../decider.ts';
import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import type { z } from 'zod';
import type { EvolvedEvent, RecentEvents } from './recent-events.ts';
import { type DomainEvent, parseRecorded, type Recorded } from '../store/recorded.ts';
import { streamCache } from './stream-cache.ts';
import { eachEvent } from '../store/stream.ts';
import { evolveRecorded } from './evolve-recorded.ts';

export interface StateAt<State, E extends DomainEvent> {
  /** The event of a log entry, with the state right after it; null when its stream is deleted by now. Throws
   *  UnreadableEventError. */
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
    return (await eachEvent(client, stream, schema, fold, { maxCount: count })) ? state : null;
  };

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
