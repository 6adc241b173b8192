import { AppError } from '@cpg/contracts';
import { type Decider, fold } from '@cpg/event-sourcing/decider';
import { type CommandHandler, type DomainEvent, genesisHash, linkEvents, type Recorded } from '@cpg/event-sourcing';

interface Stream<State, E extends DomainEvent> {
  state: State;
  revision: number;
  hash: string;
  deleted: boolean;
  readonly events: Recorded<E>[];
}

export interface MemoryHandler<State, Command, E extends DomainEvent> extends CommandHandler<State, Command, E> {
  readonly tombstone: (id: string) => void;
  readonly clear: () => void;
  /** The last state of a stream, tombstoned or not. */
  readonly lastOf: (id: string) => State;
  /** The events of a stream; null when it is tombstoned. */
  readonly eventsOf: (id: string) => Recorded<E>[] | null;
  /** The states of all streams that are not tombstoned. */
  readonly states: () => State[];
}

/** A command handler with streams in memory. `onRecorded` receives every event with the state right after it, in
 *  order. */
export const memoryHandler = <State, Command, E extends DomainEvent>(
  decider: Decider<State, Command, E>,
  onRecorded: (recorded: Recorded<E>, after: State) => void,
): MemoryHandler<State, Command, E> => {
  const streams = new Map<string, Stream<State, E>>();
  const streamOf = (id: string) => {
    const fresh: Stream<State, E> = {
      state: decider.initial,
      revision: -1,
      hash: genesisHash(id),
      deleted: false,
      events: [],
    };
    const stream = streams.get(id) ?? fresh;
    streams.set(id, stream);
    if (stream.deleted) throw new AppError('not_found', 'the stream was deleted');
    return stream;
  };
  return {
    handle: async (
      id,
      command,
      { actor, requestId, correlationId },
      { causationId = requestId, beforeAppend } = {},
    ) => {
      const stream = streamOf(id);
      const decided = decider.decide(command, stream.state);
      if (decided.length > 0) beforeAppend?.();
      const caller = { actor, requestId, correlationId };
      const recorded = linkEvents(decided, id, stream, caller, { causationId });
      stream.revision += recorded.length;
      stream.hash = recorded.at(-1)?.metadata.hash ?? stream.hash;
      for (const each of recorded) {
        stream.state = fold(decider, stream.state, [each.event]);
        stream.events.push(each);
        onRecorded(each, stream.state);
      }
      const { state, revision, hash } = stream;
      return { state, revision, hash, events: recorded };
    },
    load: async (id) => streamOf(id),
    evict: () => {},
    tombstone: (id) => void (streams.get(id)!.deleted = true),
    clear: () => streams.clear(),
    lastOf: (id) => streams.get(id)?.state ?? decider.initial,
    eventsOf: (id) => {
      const { deleted = false, events = [] } = streams.get(id) ?? {};
      return deleted ? null : events;
    },
    states: () => [...streams.values()].filter(({ deleted }) => !deleted).map(({ state }) => state),
  };
};
