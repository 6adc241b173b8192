import { AppError, isTemporary, outcomeUnknown } from '@cpg/contracts';
import { type CallContext, type Logger, refuseAfterDeadline } from '@cpg/platform';
import { isTransientDatabaseError } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { z } from 'zod';
import type { Decider } from '../decider.ts';
import { append } from '../store/append.ts';
import { linkEvents, type DomainEvent, genesisHash, type Idempotency, type Recorded } from '../store/recorded.ts';
import { eachEvent } from '../store/stream.ts';
import { estimateBytes, evolveRecorded, type RecentEvents, streamCache } from './state-at.ts';

/** A stream folded up to its newest event. For an empty stream `revision` is -1 and `hash` the genesis hash. */
export interface LoadedStream<State> {
  readonly state: State;
  readonly revision: number;
  readonly hash: string;
}

export interface HandledCommand<State, E extends DomainEvent> extends LoadedStream<State> {
  /** The events that the command caused. Empty when it changed nothing. */
  readonly events: Recorded<E>[];
}

export interface HandleOptions {
  /** Id of the event that caused the command. Defaults to the id of the request. */
  readonly causationId?: string | undefined;
  /** The stream is probably new: skips the first read. */
  readonly fresh?: boolean;
  /** For a command that is not idempotent by itself: once the request has recorded an event on the stream, the command
   *  changes nothing. A caller can then repeat it with the same request id after a lost answer. */
  readonly oncePerRequest?: boolean;
  /** Runs right before each attempt to append. When it throws, that attempt is not sent. */
  readonly beforeAppend?: (() => void) | undefined;
  /** For the metadata of the first event that the command causes. */
  readonly idempotency?: Idempotency | undefined;
}

export interface CommandHandler<State, Command, E extends DomainEvent> {
  /** Loads the state, decides, and appends the new events with the expected revision. On a conflict it decides again on
   *  the new state. Resolves once the events are durable. Throws the refusal of `decide`; `not_found` for a tombstoned
   *  stream; `concurrent_update` after too many conflicts; `dependency_unavailable` when nothing was recorded;
   *  `overloaded` when the deadline passed before the append; `outcome_unknown`; UnreadableEventError. */
  readonly handle: (
    id: string,
    command: Command,
    context: CallContext,
    options?: HandleOptions,
  ) => Promise<HandledCommand<State, E>>;
  /** The stream from the cache, which may be out of date, or else from the event store. Throws `not_found` when it was
   *  tombstoned. */
  readonly load: (id: string) => Promise<LoadedStream<State>>;
  /** Removes a stream from the cache: after it was tombstoned, or before a `load` that must be up to date. */
  readonly evict: (id: string) => void;
}

export interface CommandHandlerOptions<State, Command, E extends DomainEvent> {
  readonly client: EventStoreDBClient;
  readonly decider: Decider<State, Command, E>;
  /** Parses recorded events, including those of earlier and later versions. */
  readonly schema: z.ZodType<E>;
  /** Validates new events before they are appended. An invalid one is a bug; then nothing is appended. */
  readonly newEvent: z.ZodType<E>;
  readonly streamOf: (id: string) => string;
  /** Gets the events that the handler appends. */
  readonly recent?: RecentEvents<State, E> | undefined;
}

interface CachedStream<State> extends LoadedStream<State> {
  /** The requests that caused its newest events. */
  readonly requestIds: readonly string[];
}

const MAX_ATTEMPTS = 12;
/** A repeat follows its first attempt within seconds. */
const REMEMBERED_REQUESTS = 1_000;

const withRequest = (requestIds: readonly string[], requestId: string): readonly string[] =>
  requestIds.at(-1) === requestId ? requestIds : [...requestIds.slice(1 - REMEMBERED_REQUESTS), requestId];

export const commandHandler = <State, Command, E extends DomainEvent>({
  client,
  decider,
  schema,
  newEvent,
  streamOf,
  recent,
}: CommandHandlerOptions<State, Command, E>): CommandHandler<State, Command, E> => {
  const { empty, readOn } = streamLoader({ client, decider, schema });
  const eventsOf = eventMaker({ decider, newEvent });
  // A stale entry does no harm: the append fails on the expected revision.
  const cache = streamCache<CachedStream<State>>();
  const serially = serialByKey();

  const handle = async (
    stream: string,
    command: Command,
    context: CallContext,
    {
      causationId = context.requestId,
      fresh = false,
      oncePerRequest = false,
      beforeAppend,
      idempotency,
    }: HandleOptions,
  ): Promise<HandledCommand<State, E>> => {
    // The known part of the stream: only the events after it are read.
    let known = empty(stream);
    let wasSent = false;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const cached = cache.get(stream);
      const before = cached ?? (fresh && attempt === 1 ? known : await readOn(stream, known));
      known = before;
      const isRepeated = oncePerRequest && before.requestIds.includes(context.requestId);
      const decide = cached ? withoutRefusal(decider) : decider.decide;
      const decided = isRepeated ? [] : decide(command, before.state);
      if (cached && decided.length === 0) {
        // A cached state may be stale: only the recorded one refuses, or shows that nothing changes.
        cache.delete(stream);
        continue;
      }
      if (decided.length === 0) {
        cache.set(stream, before);
        return { ...before, events: [] };
      }
      const { events, states, after } = eventsOf(decided, stream, before, context, { causationId, idempotency });
      // Not after a conflict: it can be that of an append whose answer was lost.
      if (!wasSent) refuseAfterDeadline(context);
      wasSent = true;
      cache.delete(stream);
      const result = await append(client, stream, events, before.revision, beforeAppend);
      if (result === 'deleted') throw new AppError('not_found', 'the resource was deleted');
      if (result === 'conflict') continue;
      const bytes = estimateBytes(after);
      cache.set(stream, after, { size: bytes });
      events.forEach((recorded, index) => recent?.add({ recorded, state: states[index]! }, bytes));
      return { ...after, events };
    }
    throw new AppError('concurrent_update', 'too many concurrent changes: try again');
  };

  return {
    handle: (id, command, context, options = {}) => {
      const stream = streamOf(id);
      return serially(stream, () => handle(stream, command, context, options));
    },
    load: async (id) => {
      const stream = streamOf(id);
      return cache.get(stream) ?? (await readOn(stream, empty(stream)));
    },
    evict: (id) => void cache.delete(streamOf(id)),
  };
};

/** Decides; no events also when the command is refused. */
const withoutRefusal =
  <State, Command, E>({ decide }: Pick<Decider<State, Command, E>, 'decide'>) =>
  (command: Command, state: State): E[] => {
    try {
      return decide(command, state);
    } catch {
      return [];
    }
  };

/** Makes the events to append, the state after each, and the stream after all. Throws if an event is invalid. */
const eventMaker =
  <State, Command, E extends DomainEvent>({
    decider,
    newEvent,
  }: Pick<CommandHandlerOptions<State, Command, E>, 'decider' | 'newEvent'>) =>
  (
    decided: readonly E[],
    stream: string,
    before: CachedStream<State>,
    context: CallContext,
    chaining: Parameters<typeof linkEvents>[4],
  ) => {
    for (const event of decided) newEvent.parse(event);
    const events = linkEvents(decided, stream, before, context, chaining);
    // Before the append: a fault of `evolve` must not leave an event behind that nobody can read.
    const states = statesAfter(decider, before.state, decided);
    const { revision, metadata } = events.at(-1)!;
    const requestIds = withRequest(before.requestIds, context.requestId);
    return { events, states, after: { state: states.at(-1)!, revision, hash: metadata.hash, requestIds } };
  };

/** The state after each of `events`. */
const statesAfter = <State, E>(
  { evolve }: Pick<Decider<State, never, E>, 'evolve'>,
  initial: State,
  events: readonly E[],
): State[] => {
  let state = initial;
  return events.map((event) => (state = evolve(state, event)));
};

const streamLoader = <State, Command, E extends DomainEvent>({
  client,
  decider,
  schema,
}: Pick<CommandHandlerOptions<State, Command, E>, 'client' | 'decider' | 'schema'>) => {
  const empty = (stream: string): CachedStream<State> => ({
    state: decider.initial,
    revision: -1,
    hash: genesisHash(stream),
    requestIds: [],
  });
  return {
    empty,
    /** The recorded stream, of which `known` are the first events. */
    readOn: async (stream: string, known: CachedStream<State>): Promise<CachedStream<State>> => {
      let loaded = known;
      const fold = (recorded: Recorded<E>) => {
        const { revision, metadata } = recorded;
        const { hash, requestId } = metadata;
        const state = evolveRecorded(decider, loaded.state, recorded);
        loaded = { state, revision, hash, requestIds: withRequest(loaded.requestIds, requestId) };
      };
      const exists = await eachEvent(client, stream, schema, fold, { fromRevision: known.revision + 1 });
      if (!exists) throw new AppError('not_found', 'the resource was deleted');
      return loaded;
    },
  };
};

/** Runs work of the same key one after another, and work of different keys concurrently. */
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

/** Logs one info line for each recorded event that has a sentence, wherever its command came from. A command that
 *  changes nothing logs nothing. A crash after the append loses the line, but not the event. */
export const withFactLog = <State, Command, E extends DomainEvent>(
  handler: CommandHandler<State, Command, E>,
  {
    sentences,
    fieldsOf,
    log,
  }: {
    readonly sentences: { readonly [T in E['type']]?: string };
    /** The ids of a stream, for each of its lines. */
    readonly fieldsOf: (id: string, state: State) => object;
    readonly log: Logger;
  },
): CommandHandler<State, Command, E> => ({
  ...handler,
  handle: async (id, command, context, options) => {
    const handled = await handler.handle(id, command, context, options);
    for (const { event } of handled.events) {
      const sentence = sentences[event.type as E['type']];
      if (sentence) log.info({ ...fieldsOf(id, handled.state), requestId: context.requestId }, sentence);
    }
    return handled;
  },
});

/** Runs a step that follows a recorded event, such as the projection before the answer. When a dependency is
 *  unavailable it throws `outcome_unknown`, because the caller must not believe that nothing was done. The step is done
 *  later, by a repeat or from the log. */
export const afterRecording = async <T>(step: () => Promise<T>): Promise<T> => {
  try {
    return await step();
  } catch (error) {
    if (!isTransientDatabaseError(error) && !isTemporary(error)) throw error;
    throw outcomeUnknown('the request took effect, but a dependency became unavailable before the answer', error);
  }
};
