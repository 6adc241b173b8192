import codePb from '@eventstore/db-client/generated/code_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { Message } from 'google-protobuf';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import { type ExpectedRevision, NO_REVISION, type WriteResult } from '../events.ts';
import type { Refusal } from '../refusals.ts';
import { streamIdentifier } from './messages.ts';

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

const { Any } = anyPb;
const { Code } = codePb;

/** Status of a refused append in a batch call. Source: `Status` of EventStoreDB. */
const toBatchStatus = (refusal: Refusal): statusPb.Status => {
  switch (refusal.kind) {
    case 'wrong-revision':
      return statusMessage(
        Code.ALREADY_EXISTS,
        'WrongExpectedVersion',
        wrongExpectedVersion(refusal.expected, refusal.actual),
      );
    case 'stream-deleted': {
      const detail = new sharedPb.StreamDeleted();
      detail.setStreamIdentifier(streamIdentifier(refusal.stream));
      return statusMessage(Code.NOT_FOUND, 'StreamDeleted', detail);
    }
    case 'append-too-large': {
      const detail = new sharedPb.MaximumAppendSizeExceeded();
      detail.setMaxappendsize(refusal.limit);
      return statusMessage(Code.INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', detail);
    }
    case 'metadata-missing':
      return badRequest(`Required Metadata Property '${refusal.property}' is missing`);
    case 'invalid':
      return badRequest(refusal.reason);
    case 'deadline-exceeded':
    case 'commit-timeout':
      return statusMessage(Code.DEADLINE_EXCEEDED, 'Timeout', new sharedPb.Timeout());
    case 'not-ready':
      return notReady();
    default:
      return statusMessage(Code.UNKNOWN, 'Unknown', new sharedPb.Unknown());
  }
};

/** A server that is not ready. Like EventStoreDB, it sends no code and a detail of no known type, so its client cannot
 *  recognise the error. */
const notReady = (): statusPb.Status => {
  const details = new Any();
  details.pack(new Empty().serializeBinary(), 'google.protobuf.Empty');
  const wire = new statusPb.Status();
  wire.setMessage('Server Is Not Ready');
  wire.setDetails(details);
  return wire;
};

const statusMessage = (code: codePb.Code, name: DetailName, detail: Message): statusPb.Status => {
  const details = new Any();
  details.pack(detail.serializeBinary(), `event_store.client.${name}`);
  const wire = new statusPb.Status();
  wire.setCode(code);
  wire.setMessage(name);
  wire.setDetails(details);
  return wire;
};

type DetailName =
  'WrongExpectedVersion' | 'StreamDeleted' | 'MaximumAppendSizeExceeded' | 'BadRequest' | 'Timeout' | 'Unknown';

const badRequest = (reason: string): statusPb.Status => {
  const detail = new sharedPb.BadRequest();
  detail.setMessage(reason);
  return statusMessage(Code.INVALID_ARGUMENT, 'BadRequest', detail);
};

const wrongExpectedVersion = (expected: ExpectedRevision, actual: bigint): sharedPb.WrongExpectedVersion => {
  const detail = new sharedPb.WrongExpectedVersion();
  if (expected === 'any') detail.setExpectedAny(new Empty());
  else if (expected === 'no_stream') detail.setExpectedNoStream(new Empty());
  else if (expected === 'stream_exists') detail.setExpectedStreamExists(new Empty());
  else detail.setExpectedStreamPosition(String(expected));
  if (actual === NO_REVISION) detail.setCurrentNoStream(new Empty());
  else detail.setCurrentStreamRevision(String(actual));
  return detail;
};
