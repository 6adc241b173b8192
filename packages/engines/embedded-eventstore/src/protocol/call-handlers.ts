import { once } from 'node:events';
import {
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { RefusedError, unavailable } from '../refusals.ts';
import type { ExpectedRevision } from '../events.ts';

interface Call {
  on(event: 'cancelled', listener: () => void): unknown;
}

interface StreamingCall extends Call {
  end(): unknown;
  emit(event: 'error', error: ServiceError): unknown;
}

/** Turns functions that return or throw into gRPC handlers. Each function gets a signal that aborts when the client
 *  disconnects, its deadline passes, or, for streaming calls, the server stops. */
export class CallHandlers {
  readonly #streaming = new Set<AbortController>();
  readonly #open = new Set<Promise<void>>();
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Ends all streaming calls with UNAVAILABLE, so that clients reconnect. */
  endStreams(): void {
    for (const call of this.#streaming) call.abort(unavailable('the event store is stopping'));
  }

  /** Resolves once the answers of the calls that are open now are sent. */
  async allDone(): Promise<void> {
    await Promise.all(this.#open);
  }

  unary<Req, Res>(handle: (request: Req, signal: AbortSignal) => Promise<Res>): handleUnaryCall<Req, Res> {
    return (call, callback) => this.#answer(call, callback, (signal) => handle(call.request, signal));
  }

  clientStream<Req, Res>(
    handle: (call: ServerReadableStream<Req, Res>, signal: AbortSignal) => Promise<Res>,
  ): handleClientStreamingCall<Req, Res> {
    return (call, callback) => this.#answer(call, callback, (signal) => handle(call, signal));
  }

  /** Writes no faster than the client reads (backpressure). */
  serverStream<Req, Res>(
    handle: (request: Req, signal: AbortSignal) => AsyncIterable<Res>,
  ): handleServerStreamingCall<Req, Res> {
    return (call) =>
      this.#stream(call, async (signal) => {
        for await (const response of handle(call.request, signal)) {
          if (signal.aborted) break;
          if (!call.write(response)) await once(call, 'drain', { signal });
        }
      });
  }

  bidirectional<Req, Res>(
    handle: (call: ServerDuplexStream<Req, Res>, signal: AbortSignal) => Promise<void>,
  ): handleBidiStreamingCall<Req, Res> {
    return (call) => this.#stream(call, (signal) => handle(call, signal));
  }

  #answer<Res>(call: Call, callback: sendUnaryData<Res>, work: (signal: AbortSignal) => Promise<Res>): void {
    const { signal } = cancellation(call);
    this.#track(
      call,
      work(signal).then(
        (response) => callback(null, response),
        (error) => callback(this.#errorOf(error, signal)),
      ),
    );
  }

  #stream(call: StreamingCall, work: (signal: AbortSignal) => Promise<void>): void {
    const controller = cancellation(call);
    const { signal } = controller;
    this.#streaming.add(controller);
    this.#track(
      call,
      work(signal)
        .then(() => signal.throwIfAborted())
        .then(
          () => void call.end(),
          (error) => void call.emit('error', this.#errorOf(error, signal)),
        )
        .finally(() => this.#streaming.delete(controller)),
    );
  }

  #track(call: Call, work: Promise<void>): void {
    // gRPC emits this event also after it has sent the status of a call.
    const sent = new Promise<void>((resolve) => call.on('cancelled', resolve));
    const done = Promise.all([work, sent]).then(() => {});
    this.#open.add(done);
    void done.finally(() => this.#open.delete(done));
  }

  /** After an abort, its reason is the error. Any other error that is not a refusal is a bug, and is logged. */
  #errorOf(error: unknown, signal: AbortSignal): ServiceError {
    if (signal.aborted) return toServiceError(signal.reason);
    if (!(error instanceof RefusedError)) this.#log(`a call failed: ${error instanceof Error ? error.stack : error}`);
    return toServiceError(error);
  }
}

const cancellation = (call: Call): AbortController => {
  const controller = new AbortController();
  call.on('cancelled', () => controller.abort(new Error('the call was cancelled')));
  return controller;
};

/** Status and trailers of a failed call. Source: `RpcExceptions` of EventStoreDB. */
const toServiceError = (error: unknown): ServiceError => {
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
