import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import codePb from '@eventstore/db-client/generated/code_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import type { Message } from 'google-protobuf';
import { type Expectation, NO_REVISION } from '../events.ts';
import { type Refusal, RefusedError } from '../refusals.ts';
import { streamIdentifier } from './messages.ts';

const { Any } = anyPb;
const { Empty } = emptyPb;
const { Code } = codePb;

/** The error as a call's status and trailers. Source: `RpcExceptions` of EventStoreDB. */
export const toServiceError = (error: unknown): ServiceError => {
  if (!(error instanceof RefusedError)) return serviceError(status.UNKNOWN, 'the event store failed');
  const { refusal } = error;
  switch (refusal.kind) {
    case 'wrong-revision':
      return serviceError(status.FAILED_PRECONDITION, `stream '${refusal.stream}' is not at the expected revision`, {
        exception: 'wrong-expected-version',
        'stream-name': refusal.stream,
        'expected-version': String(versionOf(refusal.expected)),
        'actual-version': String(refusal.actual),
      });
    case 'stream-deleted':
      return serviceError(status.FAILED_PRECONDITION, `Event stream '${refusal.stream}' is deleted.`, {
        exception: 'stream-deleted',
        'stream-name': refusal.stream,
      });
    case 'append-too-large':
      return serviceError(status.INVALID_ARGUMENT, `Maximum Append Size of ${refusal.limit} Exceeded.`, {
        exception: 'maximum-append-size-exceeded',
        'maximum-append-size': String(refusal.limit),
      });
    case 'metadata-missing':
      return serviceError(status.INVALID_ARGUMENT, `Required Metadata Property '${refusal.property}' is missing`, {
        exception: 'missing-required-metadata-property',
        'required-metadata-properties': refusal.property,
      });
    case 'invalid':
      return serviceError(status.INVALID_ARGUMENT, refusal.reason);
    case 'deadline-exceeded':
      return serviceError(status.DEADLINE_EXCEEDED, 'Deadline Exceeded');
    case 'unsupported':
      return serviceError(status.UNIMPLEMENTED, refusal.reason);
    case 'unavailable':
      return serviceError(status.UNAVAILABLE, refusal.reason);
  }
};

/** The refusal as the status of one append among others on the same call. Source: `Status` of EventStoreDB. */
export const toBatchStatus = (refusal: Refusal): statusPb.Status => {
  switch (refusal.kind) {
    case 'wrong-revision':
      return batchStatus(
        Code.ALREADY_EXISTS,
        'WrongExpectedVersion',
        wrongExpectedVersion(refusal.expected, refusal.actual),
      );
    case 'stream-deleted': {
      const detail = new sharedPb.StreamDeleted();
      detail.setStreamIdentifier(streamIdentifier(refusal.stream));
      return batchStatus(Code.NOT_FOUND, 'StreamDeleted', detail);
    }
    case 'append-too-large': {
      const detail = new sharedPb.MaximumAppendSizeExceeded();
      detail.setMaxappendsize(refusal.limit);
      return batchStatus(Code.INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', detail);
    }
    case 'metadata-missing':
      return badRequest(`Required Metadata Property '${refusal.property}' is missing`);
    case 'invalid':
      return badRequest(refusal.reason);
    case 'deadline-exceeded':
      return batchStatus(Code.DEADLINE_EXCEEDED, 'Timeout', new sharedPb.Timeout());
    default:
      return batchStatus(Code.UNKNOWN, 'Unknown', new sharedPb.Unknown());
  }
};

const serviceError = (code: status, details: string, trailers: Record<string, string> = {}): ServiceError => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, asciiOf(value));
  return Object.assign(new Error(details), { code, details, metadata });
};

// Trailers are ASCII; stream names need not be.
const asciiOf = (value: string): string => (/^[\x20-\x7e]*$/.test(value) ? value : encodeURI(value));

const batchStatus = (code: codePb.Code, name: DetailName, detail: Message): statusPb.Status => {
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
  return batchStatus(Code.INVALID_ARGUMENT, 'BadRequest', detail);
};

const wrongExpectedVersion = (expected: Expectation, actual: bigint): sharedPb.WrongExpectedVersion => {
  const detail = new sharedPb.WrongExpectedVersion();
  if (expected === 'any') detail.setExpectedAny(new Empty());
  else if (expected === 'no_stream') detail.setExpectedNoStream(new Empty());
  else if (expected === 'stream_exists') detail.setExpectedStreamExists(new Empty());
  else detail.setExpectedStreamPosition(String(expected));
  if (actual === NO_REVISION) detail.setCurrentNoStream(new Empty());
  else detail.setCurrentStreamRevision(String(actual));
  return detail;
};

/** The numbers that stand for an expectation in trailers. Source: `ExpectedVersion` of EventStoreDB. */
const versionOf = (expected: Expectation): bigint => {
  switch (expected) {
    case 'no_stream':
      return -1n;
    case 'any':
      return -2n;
    case 'stream_exists':
      return -4n;
    default:
      return expected;
  }
};
