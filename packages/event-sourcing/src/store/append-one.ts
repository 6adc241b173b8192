import { newContext, newId } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { append } from './append.ts';
import { chainEvents } from './chain-events.ts';
import { type DomainEvent, genesisHash, type Recorded } from './recorded.ts';

/** The end of a stream: its last revision (-1 if empty), and the hash for the next event. */
export interface StreamEnd {
  readonly revision: number;
  readonly hash: string;
}

/** The end of a stream after its last event; null before the first one. */
export const endOf = (stream: string, last: Pick<Recorded, 'revision' | 'metadata'> | null): StreamEnd =>
  last ? { revision: last.revision, hash: last.metadata.hash } : { revision: -1, hash: genesisHash(stream) };

/** Appends an event recorded without a request. Resolves to the new end of the stream, or null if
 *  another process appended meanwhile. Throws if the stream was deleted, and like `append`. */
export const appendOne = async (
  client: EventStoreDBClient,
  stream: string,
  event: DomainEvent,
  end: StreamEnd,
  actor: string,
): Promise<StreamEnd | null> => {
  const context = newContext(actor, newId('event'));
  const events = chainEvents([event], stream, end, context, { causationId: context.requestId });
  const result = await append(client, stream, events, end.revision);
  if (result === 'deleted') throw deletedStream(stream);
  return result === 'conflict' ? null : endOf(stream, events[0]!);
};

export const deletedStream = (stream: string): Error =>
  new Error(`the stream ${stream} was deleted: restore the event store from a backup`);
