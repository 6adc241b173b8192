import { AppError, type Decider, fold } from '@cpg/core';
import { type CommandHandler, type DomainEvent, eventHash, genesisHash, type Recorded } from '@cpg/event-store';
import { newId } from '@cpg/runtime';

interface Stream<State, E extends DomainEvent> {
  state: State;
  revision: number;
  hash: string;
  deleted: boolean;
  readonly events: Recorded<E>[];
}

/** A command handler whose streams are in memory. `onRecorded` sees every event with the state right after it, in order. */
export const memoryHandler = <State, Command, E extends DomainEvent>(
  decider: Decider<State, Command, E>,
  onRecorded: (recorded: Recorded<E>, after: State) => void,
): CommandHandler<State, Command, E> & { readonly tombstone: (id: string) => void } => {
  const streams = new Map<string, Stream<State, E>>();
  const streamOf = (id: string) => {
    const fresh = { state: decider.initial, revision: -1, hash: genesisHash(id), deleted: false, events: [] };
    const stream = streams.get(id) ?? fresh;
    streams.set(id, stream);
    if (stream.deleted) throw new AppError('not_found', 'it was deleted');
    return stream;
  };
  return {
    handle: async (id, command, { actor, requestId, correlationId }, { causationId = requestId } = {}) => {
      const stream = streamOf(id);
      const recorded = decider.decide(command, stream.state).map((event): Recorded<E> => {
        const previousHash = stream.hash;
        stream.hash = eventHash(previousHash, event);
        stream.revision += 1;
        const metadata = { actor, requestId, $correlationId: correlationId, $causationId: causationId, previousHash };
        const { hash, revision } = stream;
        return { stream: id, revision, id: newId('event'), event, metadata: { ...metadata, hash } };
      });
      for (const each of recorded) {
        stream.state = fold(decider, stream.state, [each.event]);
        stream.events.push(each);
        onRecorded(each, stream.state);
      }
      const { state, revision, hash } = stream;
      return { state, revision, hash, events: recorded };
    },
    peek: async (id) => streamOf(id),
    forget: () => {},
    tombstone: (id) => void (streamOf(id).deleted = true),
  };
};
