import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { invalid } from '../refusals.ts';
import type { Store } from '../store.ts';
import { expectationOf } from './expectation.ts';
import { empty, streamNameOf } from './messages.ts';

const { DeleteResp, TombstoneResp } = streamsPb;

/** Hides the events of a stream; it can be written to again. */
export const softDelete = (
  store: Store,
  request: streamsPb.DeleteReq,
  signal: AbortSignal,
): Promise<streamsPb.DeleteResp> => close(store, 'delete', request, signal, DeleteResp);

/** Closes a stream for good. */
export const tombstone = (
  store: Store,
  request: streamsPb.TombstoneReq,
  signal: AbortSignal,
): Promise<streamsPb.TombstoneResp> => close(store, 'tombstone', request, signal, TombstoneResp);

const close = async <R extends streamsPb.DeleteResp | streamsPb.TombstoneResp>(
  store: Store,
  kind: 'delete' | 'tombstone',
  request: streamsPb.DeleteReq | streamsPb.TombstoneReq,
  signal: AbortSignal,
  Response: { new (): R; Position: new () => streamsPb.DeleteResp.Position },
): Promise<R> => {
  const options = request.getOptions();
  if (!options) throw invalid('options are required');
  const stream = streamNameOf(options.getStreamIdentifier());
  const { position } = await store.writer.execute({ kind, stream, expected: expectationOf(options) }, signal);
  const response = new Response();
  if (position === null) response.setNoPosition(empty());
  else {
    const place = new Response.Position();
    place.setCommitPosition(String(position));
    place.setPreparePosition(String(position));
    response.setPosition(place);
  }
  return response;
};
