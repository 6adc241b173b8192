import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { ExpectedRevision } from '../events.ts';
import { RefusedError } from '../refusals.ts';

/** Status and trailers of a failed call. Source: `RpcExceptions` of EventStoreDB. */
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
    case 'commit-timeout':
      return serviceError(status.ABORTED, 'Operation timed out: Commit phase timeout.');
    case 'not-ready':
      return serviceError(status.UNAVAILABLE, 'Server Is Not Ready');
    case 'unanswered':
      return serviceError(status.UNKNOWN, 'the append has no answer');
    case 'unexpected-read':
      return serviceError(status.UNKNOWN, 'Unexpected ReadStreamResult: Error');
    case 'unsupported':
      return serviceError(status.UNIMPLEMENTED, refusal.reason);
    case 'unavailable':
      return serviceError(status.UNAVAILABLE, refusal.reason);
  }
};

const serviceError = (code: status, details: string, trailers: Record<string, string> = {}): ServiceError => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, asciiOf(value));
  return Object.assign(new Error(details), { code, details, metadata });
};

// Trailers must be ASCII, but a stream name may not be.
const asciiOf = (value: string): string => (/^[\x20-\x7e]*$/.test(value) ? value : encodeURI(value));

/** The number of an expected revision in the trailers. Source: `ExpectedVersion` of EventStoreDB. */
const versionOf = (expected: ExpectedRevision): bigint => {
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
