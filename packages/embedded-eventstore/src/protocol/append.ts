import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerReadableStream } from '@grpc/grpc-js';
import { type Expectation, NO_REVISION, type ProposedEvent, sizeOf } from '../events.ts';
import { invalid, RefusedError } from '../refusals.ts';
import type { Written } from '../storage/batch.ts';
import type { Store } from '../store.ts';
import { expectationOf } from './expectation.ts';
import { empty, proposedEventOf, streamNameOf } from './messages.ts';

const { AppendResp } = streamsPb;
type AppendCall = ServerReadableStream<streamsPb.AppendReq, streamsPb.AppendResp>;

/** One append: its options, then its events, then one answer. */
export const append = async (
  store: Store,
  maxAppendBytes: number,
  call: AppendCall,
  signal: AbortSignal,
): Promise<streamsPb.AppendResp> => {
  let target: { stream: string; expected: Expectation } | undefined;
  const events: ProposedEvent[] = [];
  let bytes = 0;
  for await (const request of call as AsyncIterable<streamsPb.AppendReq>) {
    const options = request.getOptions();
    if (!target) {
      if (!options) throw invalid('the first message of an append has its options');
      target = { stream: streamNameOf(options.getStreamIdentifier()), expected: expectationOf(options) };
      continue;
    }
    const message = request.getProposedMessage();
    if (!message) throw invalid('only events follow the options of an append');
    const event = proposedEventOf(message);
    bytes += sizeOf(event);
    if (bytes > maxAppendBytes) throw new RefusedError({ kind: 'append-too-large', limit: maxAppendBytes });
    events.push(event);
  }
  if (!target) throw invalid('an append needs a stream');
  try {
    return success(await store.writer.execute({ kind: 'append', ...target, events }, signal));
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.kind === 'wrong-revision') {
      return wrongExpectedVersion(error.refusal.expected, error.refusal.actual);
    }
    throw error;
  }
};

const success = ({ revision, position }: Written): streamsPb.AppendResp => {
  const written = new AppendResp.Success();
  if (revision === NO_REVISION) written.setNoStream(empty());
  else written.setCurrentRevision(String(revision));
  if (position === null) written.setNoPosition(empty());
  else {
    const place = new AppendResp.Position();
    place.setCommitPosition(String(position));
    place.setPreparePosition(String(position));
    written.setPosition(place);
  }
  const response = new AppendResp();
  response.setSuccess(written);
  return response;
};

/** A conflict is an answer of this call, not an error. */
const wrongExpectedVersion = (expected: Expectation, actual: bigint): streamsPb.AppendResp => {
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
