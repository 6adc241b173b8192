import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { invalid } from '../refusals.ts';
import type { Store } from '../store.ts';
import { expectedRevisionOf } from './expected-revision.ts';
import { empty, streamNameOf } from './messages.ts';

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
