import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import { NO_REVISION } from '../events.ts';
import type { Refusal } from '../refusals.ts';
import type { WriteResult } from '../storage/commands.ts';
import { toBatchStatus } from './batch-status.ts';

const { BatchAppendResp } = streamsPb;
const { Empty } = emptyPb;

/** The response to one append of a batch call. */
export const batchAppendResponse = (
  correlationId: sharedPb.UUID | undefined,
  stream: sharedPb.StreamIdentifier | undefined,
  outcome: WriteResult | Refusal,
): streamsPb.BatchAppendResp => {
  const response = new BatchAppendResp();
  response.setCorrelationId(correlationId);
  response.setStreamIdentifier(stream);
  if ('kind' in outcome) response.setError(toBatchStatus(outcome));
  else response.setSuccess(success(outcome));
  return response;
};

const success = ({ revision, position }: WriteResult): streamsPb.BatchAppendResp.Success => {
  const written = new BatchAppendResp.Success();
  if (revision === NO_REVISION) written.setNoStream(new Empty());
  else written.setCurrentRevision(String(revision));
  if (position === null) written.setNoPosition(new Empty());
  else {
    const location = new sharedPb.AllStreamPosition();
    location.setCommitPosition(String(position));
    location.setPreparePosition(String(position));
    written.setPosition(location);
  }
  return written;
};
