import { AppError } from '@cpg/contracts';
import { type CallContext, refuseAfterDeadline } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { z } from 'zod';
import { append, deletedStream, endOf } from '../store/append.ts';
import { linkEvents, type DomainEvent, parseRecorded, type Recorded, type StreamEnd } from '../store/recorded.ts';
import { rawEventsOf } from '../store/stream.ts';

/** An event to append. `secret` goes to its metadata. */
export interface ProposedEvent<E extends DomainEvent> {
  readonly event: E;
  readonly secret?: string;
}

/** One stream, folded in memory. */
export interface FoldedStream<State, E extends DomainEvent> {
  /** The state after every event that was recorded before the call. Reads only what is new. */
  readonly read: () => Promise<State>;
  /** Decides on that state and appends the events; decides again when another process appended meanwhile. Resolves to
   *  the state after them, once they are durable. Throws what `decide` throws, `concurrent_update`,
   *  `dependency_unavailable` and `outcome_unknown`. */
  readonly change: (decide: (state: State) => readonly ProposedEvent<E>[], context: CallContext) => Promise<State>;
}

export interface FoldedStreamOptions<State, E extends DomainEvent> {
  readonly client: EventStoreDBClient;
  readonly stream: string;
  readonly schema: z.ZodType<E>;
  readonly initial: State;
  /** The state after further events. Must not change `state`. */
  readonly evolve: (state: State, events: readonly Recorded<E>[]) => State;
}

interface Known<State> {
  readonly state: State;
  /** The last event; null before the first. */
  readonly last: (StreamEnd & { readonly id: string }) | null;
}

const MAX_ATTEMPTS = 12;

export const foldedStream = <State, E extends DomainEvent>({
  client,
  stream,
  schema,
  initial,
  evolve,
}: FoldedStreamOptions<State, E>): FoldedStream<State, E> => {
  const empty: Known<State> = { state: initial, last: null };
  let known = empty;

  const recordedAfter = async (before: Known<State>): Promise<Recorded<E>[] | null> => {
    const recorded: Recorded<E>[] = [];
    // The last known event is read again: in a store from an older backup, it is missing or another one.
    for await (const resolved of rawEventsOf(client, stream, before.last?.revision ?? 0))
      recorded.push(parseRecorded(schema, resolved));
    if (!before.last) return recorded;
    return recorded[0]?.id === before.last.id ? recorded.slice(1) : null;
  };

  const load = async (): Promise<Known<State>> => {
    const before = known;
    const recorded = await recordedAfter(before);
    const loaded = recorded
      ? loadedAfter(before, recorded, evolve)
      : loadedAfter(empty, (await recordedAfter(empty)) ?? [], evolve);
    // A read that took longer than another one must not replace what that one found.
    if (known === before) known = loaded;
    return loaded;
  };

  // Calls of the same moment share a read: it begins after all of them.
  let beginning: Promise<Known<State>> | undefined;
  const loadShared = (): Promise<Known<State>> =>
    (beginning ??= Promise.resolve().then(() => {
      beginning = undefined;
      return load();
    }));

  return {
    read: async () => (await loadShared()).state,
    change: async (decide, context) => {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const { state, last } = await load();
        const proposed = decide(state);
        if (proposed.length === 0) return state;
        const end: StreamEnd = last ?? endOf(stream, null);
        const decided = proposed.map(({ event }) => event);
        const linked = linkEvents(decided, stream, end, context, { causationId: context.requestId });
        const events = linked.map((event, n) => withSecret(event, proposed[n]!.secret));
        if (attempt === 1) refuseAfterDeadline(context);
        const result = await append(client, stream, events, end.revision);
        if (result === 'deleted') throw deletedStream(stream);
        if (result === 'appended') return (await load()).state;
      }
      throw new AppError('concurrent_update', 'too many concurrent changes: try again');
    },
  };
};

const loadedAfter = <State, E extends DomainEvent>(
  before: Known<State>,
  recorded: readonly Recorded<E>[],
  evolve: FoldedStreamOptions<State, E>['evolve'],
): Known<State> => {
  const newest = recorded.at(-1);
  if (!newest) return before;
  const { id, revision, metadata } = newest;
  return { state: evolve(before.state, recorded), last: { id, revision, hash: metadata.hash } };
};

const withSecret = <E extends DomainEvent>(recorded: Recorded<E>, secret: string | undefined): Recorded<E> =>
  secret === undefined ? recorded : { ...recorded, metadata: { ...recorded.metadata, secret } };
