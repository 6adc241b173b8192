import { AppError, type Decider, fold } from '@cpg/core';
import { type CallContext, newId } from '@cpg/runtime';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { z } from 'zod';
import { type DomainEvent, eventHash, genesisHash, type Recorded } from './recorded.ts';
import { streamCache } from './stream-cache.ts';
import { append, eachEvent } from './stream.ts';

/** A stream folded up to its newest event. `revision` is -1 and `hash` the genesis before the first one. */
export interface LoadedStream<State> {
  readonly state: State;
  readonly revision: number;
  readonly hash: string;
}

export interface HandledCommand<State, E extends DomainEvent> extends LoadedStream<State> {
  /** What the command made happen: empty when it changed nothing. */
  readonly events: Recorded<E>[];
}

export interface HandleOptions {
  /** What led to the command: an event's id, else it is the request's. */
  readonly causationId?: string | undefined;
  /** The stream is most likely new: saves looking. */
  readonly fresh?: boolean;
}

export interface CommandHandler<State, Command, E extends DomainEvent> {
  /** Load, decide, append with the expected revision, fold. A conflict is decided again on the new state. Nothing is
   *  returned before it is durable. Throws what `decide` refuses with; `not_found` for a tombstoned stream;
   *  `concurrent_update` when others kept winning; `dependency_unavailable`. */
  readonly handle: (
    id: string,
    command: Command,
    context: CallContext,
    options?: HandleOptions,
  ) => Promise<HandledCommand<State, E>>;
  /** The stream as this process last saw it, read only when it never did. Throws `not_found` when it was tombstoned. */
  readonly load: (id: string) => Promise<LoadedStream<State>>;
  /** Drops what is remembered of a stream: after it was tombstoned, or where `peek` must not be behind. */
  readonly evict: (id: string) => void;
}

export interface CommandHandlerOptions<State, Command, E extends DomainEvent> {
  readonly client: EventStoreDBClient;
  readonly decider: Decider<State, Command, E>;
  /** Reads recorded events. It accepts what earlier and newer versions recorded. */
  readonly schema: z.ZodType<E>;
  /** Checks new events before they are appended. An event that it refuses is a bug: nothing is appended. */
  readonly newEvent: z.ZodType<E>;
  readonly streamOf: (id: string) => string;
}

const CONFLICT_TRIES = 12;

export const commandHandler = <State, Command, E extends DomainEvent>({
  client,
  decider,
  schema,
  newEvent,
  streamOf,
}: CommandHandlerOptions<State, Command, E>): CommandHandler<State, Command, E> => {
  // Only ever a shortcut: the expected revision finds out when it is behind.
  const remembered = streamCache<LoadedStream<State>>();
  const oneAtATime = serialByKey();

  const empty = (stream: string): LoadedStream<State> => ({
    state: decider.initial,
    revision: -1,
    hash: genesisHash(stream),
  });

  const read = async (stream: string): Promise<LoadedStream<State>> => {
    let loaded = empty(stream);
    const there = await eachEvent(client, stream, schema, ({ event, revision, metadata: { hash } }) => {
      loaded = { state: decider.evolve(loaded.state, event), revision, hash };
    });
    if (!there) throw new AppError('not_found', 'it was deleted');
    return loaded;
  };

  const handle = async (
    stream: string,
    command: Command,
    context: CallContext,
    { causationId = context.requestId, fresh = false }: HandleOptions,
  ): Promise<HandledCommand<State, E>> => {
    for (let attempt = 1; attempt <= CONFLICT_TRIES; attempt += 1) {
      const before = remembered.get(stream) ?? (fresh && attempt === 1 ? empty(stream) : await read(stream));
      const decided = decideOn(before, command);
      if (decided === 'stale') continue;
      if (decided.length === 0) {
        // A command that changes nothing may have been decided on a state that is behind.
        if (remembered.delete(stream)) continue;
        remembered.set(stream, before);
        return { ...before, events: [] };
      }
      for (const event of decided) newEvent.parse(event);
      const events = chained(decided, stream, before, context, causationId);
      remembered.delete(stream);
      const result = await append(client, stream, events, before.revision);
      if (result === 'deleted') throw new AppError('not_found', 'it was deleted');
      if (result === 'conflict') continue;
      const last = events.at(-1)!;
      const after = { state: fold(decider, before.state, decided), revision: last.revision, hash: last.metadata.hash };
      remembered.set(stream, after);
      return { ...after, events };
    }
    throw new AppError('concurrent_update', 'others kept changing it at the same time: try again');

    function decideOn({ state }: LoadedStream<State>, toDecide: Command): E[] | 'stale' {
      try {
        return decider.decide(toDecide, state);
      } catch (error) {
        // A refusal, too, is only given on the newest state.
        if (remembered.delete(stream)) return 'stale';
        throw error;
      }
    }
  };

  return {
    handle: (id, command, context, options = {}) => {
      const stream = streamOf(id);
      return oneAtATime(stream, () => handle(stream, command, context, options));
    },
    load: async (id) => {
      const stream = streamOf(id);
      return remembered.get(stream) ?? (await read(stream));
    },
    evict: (id) => void remembered.delete(streamOf(id)),
  };
};

const chained = <E extends DomainEvent>(
  events: readonly E[],
  stream: string,
  { revision, hash }: LoadedStream<unknown>,
  { actor, requestId, correlationId }: CallContext,
  causationId: string,
): Recorded<E>[] => {
  let previousHash = hash;
  return events.map((event, index) => {
    const metadata = {
      actor,
      requestId,
      $correlationId: correlationId,
      $causationId: causationId,
      previousHash,
      hash: eventHash(previousHash, event),
    };
    previousHash = metadata.hash;
    return { stream, revision: revision + 1 + index, id: newId('event'), event, metadata };
  });
};

/** Runs work of one key one after another, of different keys at once: commands on one stream need not collide within a
 *  process. */
const serialByKey = () => {
  const tails = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work, work);
    const tail = result.catch(() => {});
    tails.set(key, tail);
    void tail.then(() => {
      if (tails.get(key) === tail) tails.delete(key);
    });
    return result;
  };
};
