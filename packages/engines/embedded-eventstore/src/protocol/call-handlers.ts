import { once } from 'node:events';
import type {
  handleBidiStreamingCall,
  handleClientStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  sendUnaryData,
  ServerDuplexStream,
  ServerReadableStream,
  ServiceError,
} from '@grpc/grpc-js';
import { RefusedError, unavailable } from '../refusals.ts';
import { toServiceError } from './errors.ts';

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
