import { type Decider, fold } from '@cpg/core';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import type { DomainEvent, Recorded } from './recorded.ts';
import { readStream } from './stream.ts';

export interface StateAt<State, E extends DomainEvent> {
  /** The state right after an event, or null when its stream has been deleted since. */
  readonly after: (recorded: Recorded<E>) => Promise<State | null>;
}

const REMEMBERED = 5_000;

/** Folds streams along a log: an event that follows the last one seen of its stream costs one `evolve`, any other one read of its stream. */
export const stateAt = <State, E extends DomainEvent>({
  client,
  decider,
  schema,
}: {
  client: EventStoreDBClient;
  decider: Pick<Decider<State, never, E>, 'initial' | 'evolve'>;
  schema: z.ZodType<E>;
}): StateAt<State, E> => {
  const seen = new LRUCache<string, { revision: number; state: State }>({ max: REMEMBERED });
  return {
    after: async ({ stream, revision, event }) => {
      const before = revision === 0 ? { revision: -1, state: decider.initial } : seen.get(stream);
      if (before?.revision === revision - 1) {
        const state = decider.evolve(before.state, event);
        seen.set(stream, { revision, state });
        return state;
      }
      const recorded = await readStream(client, stream, schema);
      if (recorded === null) return null;
      const upTo = recorded.filter((candidate) => candidate.revision <= revision).map((candidate) => candidate.event);
      const state = fold(decider, decider.initial, upTo);
      seen.set(stream, { revision, state });
      return state;
    },
  };
};
