import type { Decider } from '@cpg/core';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { z } from 'zod';
import type { DomainEvent, Recorded } from './recorded.ts';
import { streamCache } from './stream-cache.ts';
import { eachEvent } from './stream.ts';

export interface StateAt<State, E extends DomainEvent> {
  /** The state right after an event, or null when its stream has been deleted since. */
  readonly after: (recorded: Recorded<E>) => Promise<State | null>;
  /** The state right before it, likewise. */
  readonly before: (recorded: Recorded<E>) => Promise<State | null>;
}

/** Folds streams along a log: an event that follows the last one seen of its stream costs one `evolve`, any other one
 *  read of its stream. */
export const stateAt = <State, E extends DomainEvent>({
  client,
  decider,
  schema,
}: {
  client: EventStoreDBClient;
  decider: Pick<Decider<State, never, E>, 'initial' | 'evolve'>;
  schema: z.ZodType<E>;
}): StateAt<State, E> => {
  const seen = streamCache<{ revision: number; state: State }>();

  /** The state after the first `count` events of a stream. */
  const stateOf = async (stream: string, count: number): Promise<State | null> => {
    if (count === 0) return decider.initial;
    const remembered = seen.get(stream);
    if (remembered?.revision === count - 1) return remembered.state;
    let state = decider.initial;
    const fold = ({ event }: Recorded<E>) => {
      state = decider.evolve(state, event);
    };
    return (await eachEvent(client, stream, schema, fold, count)) ? state : null;
  };

  const before = ({ stream, revision }: Recorded<E>) => stateOf(stream, revision);

  return {
    before,
    after: async (recorded) => {
      const { stream, revision, event } = recorded;
      const previous = await before(recorded);
      if (previous === null) return null;
      const state = decider.evolve(previous, event);
      seen.set(stream, { revision, state });
      return state;
    },
  };
};
