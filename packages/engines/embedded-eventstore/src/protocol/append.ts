import { once } from 'node:events';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerReadableStream } from '@grpc/grpc-js';
import {
  type Command,
  type ExpectedRevision,
  NO_REVISION,
  type ProposedEvent,
  sizeOf,
  type WriteResult,
} from '../events.ts';
import { invalid, RefusedError } from '../refusals.ts';
import { pendingBytesOf, type Store } from '../store.ts';
import { empty, expectedRevisionOf, proposedEventOf, streamNameOf } from './messages.ts';

const { AppendResp } = streamsPb;
type AppendCall = ServerReadableStream<streamsPb.AppendReq, streamsPb.AppendResp>;

/** Serves one append call: the first request has the options, the others one event each. */
export const append = async (
  store: Store,
  maxAppendBytes: number,
  call: AppendCall,
  signal: AbortSignal,
): Promise<streamsPb.AppendResp> => {
  let heldBytes = 0;
  const hold = (event: ProposedEvent): void => {
    store.pendingBytes.take(pendingBytesOf(event));
    heldBytes += pendingBytesOf(event);
  };
  try {
    const command = await receive(call, maxAppendBytes, hold);
    return success(await store.writer.execute(command, signal));
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.kind === 'wrong-revision') {
      return wrongExpectedVersion(error.refusal.expected, error.refusal.actual);
    }
    if (error instanceof RefusedError && error.refusal.kind === 'unanswered') await once(signal, 'abort');
    throw error;
  } finally {
    store.pendingBytes.release(heldBytes);
  }
};

/** Reads the append from its requests. Calls `onEvent` for each event. */
const receive = async (
  call: AppendCall,
  maxBytes: number,
  onEvent: (event: ProposedEvent) => void,
): Promise<Command> => {
  let target: { stream: string; expected: ExpectedRevision } | undefined;
  const events: ProposedEvent[] = [];
  let bytes = 0;
  for await (const request of call as AsyncIterable<streamsPb.AppendReq>) {
    const options = request.getOptions();
    if (!target) {
      if (!options) throw invalid('the first request of an append must have options');
      target = { stream: streamNameOf(options.getStreamIdentifier()), expected: expectedRevisionOf(options) };
      continue;
    }
    const message = request.getProposedMessage();
    if (!message) throw invalid('after the first request of an append, each request must have an event');
    const event = proposedEventOf(message);
    onEvent(event);
    bytes += sizeOf(event);
    if (bytes > maxBytes) throw new RefusedError({ kind: 'append-too-large', limit: maxBytes });
    events.push(event);
  }
  if (!target) throw invalid('an append must have options');
  return { kind: 'append', ...target, events };
};

const success = ({ revision, position }: WriteResult): streamsPb.AppendResp => {
  const written = new AppendResp.Success();
  if (revision === NO_REVISION) written.setNoStream(empty());
  else written.setCurrentRevision(String(revision));
  if (position === null) written.setNoPosition(empty());
  else {
    const location = new AppendResp.Position();
    location.setCommitPosition(String(position));
    location.setPreparePosition(String(position));
    written.setPosition(location);
  }
  const response = new AppendResp();
  response.setSuccess(written);
  return response;
};

/** The protocol reports a wrong expected revision in the response of this call, not as an error. */
const wrongExpectedVersion = (expected: ExpectedRevision, actual: bigint): streamsPb.AppendResp => {
  const conflict = new AppendResp.WrongExpectedVersion();
  if (expected === 'any') conflict.setExpectedAny(empty());
  else if (expected === 'no_stream') conflict.setExpectedNoStream(empty());
  else if (expected === 'stream_exists') conflict.setExpectedStreamExists(empty());
  else conflict.setExpectedRevision(String(expected));
  if (actual === NO_REVISION) conflict.setCurrentNoStream(empty());
  else conflict.setCurrentRevision(String(actual));
  const response = new AppendResp();
  response.setWrongExpectedVersion(conflict);
  return response;
};

const { DeleteResp, TombstoneResp } = streamsPb;

/** Soft-deletes a stream: hides its events. A later append re-creates the stream. */
export const softDelete = (
  store: Store,
  request: streamsPb.DeleteReq,
  signal: AbortSignal,
): Promise<streamsPb.DeleteResp> => deleteStream(store, 'delete', request, signal, DeleteResp);

/** Tombstones a stream: deletes it for good. */
export const tombstone = (
  store: Store,
  request: streamsPb.TombstoneReq,
  signal: AbortSignal,
): Promise<streamsPb.TombstoneResp> => deleteStream(store, 'tombstone', request, signal, TombstoneResp);

const deleteStream = async <R extends streamsPb.DeleteResp | streamsPb.TombstoneResp>(
  store: Store,
  kind: 'delete' | 'tombstone',
  request: streamsPb.DeleteReq | streamsPb.TombstoneReq,
  signal: AbortSignal,
  Response: { new (): R; Position: new () => streamsPb.DeleteResp.Position },
): Promise<R> => {
  const options = request.getOptions();
  if (!options) throw invalid('a delete request must have options');
  const stream = streamNameOf(options.getStreamIdentifier());
  const { position } = await store.writer.execute({ kind, stream, expected: expectedRevisionOf(options) }, signal);
  const response = new Response();
  if (position === null) response.setNoPosition(empty());
  else {
    const location = new Response.Position();
    location.setCommitPosition(String(position));
    location.setPreparePosition(String(position));
    response.setPosition(location);
  }
  return response;
};
