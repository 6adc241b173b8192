import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import { NO_REVISION } from '../events.ts';
import type { Refusal } from '../refusals.ts';
import type { Written } from '../storage/batch.ts';
import { toBatchStatus } from './errors.ts';

const { BatchAppendResp } = streamsPb;
const { Empty } = emptyPb;

/** The answer to one append of a batch call. */
export const batchAppendResponse = (
  correlationId: sharedPb.UUID | undefined,
  stream: sharedPb.StreamIdentifier | undefined,
  outcome: Written | Refusal,
): streamsPb.BatchAppendResp => {
  const response = new BatchAppendResp();
  response.setCorrelationId(correlationId);
  response.setStreamIdentifier(stream);
  if ('kind' in outcome) response.setError(toBatchStatus(outcome));
  else response.setSuccess(success(outcome));
  return response;
};

const success = ({ revision, position }: Written): streamsPb.BatchAppendResp.Success => {
  const written = new BatchAppendResp.Success();
  if (revision === NO_REVISION) written.setNoStream(new Empty());
  else written.setCurrentRevision(String(revision));
  if (position === null) written.setNoPosition(new Empty());
  else {
    const place = new sharedPb.AllStreamPosition();
    place.setCommitPosition(String(position));
    place.setPreparePosition(String(position));
    written.setPosition(place);
  }
  return written;
};
