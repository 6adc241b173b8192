import { once } from 'node:events';
import type {
  handleBidiStreamingCall,
  handleClientStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  ServerDuplexStream,
  ServerReadableStream,
  ServiceError,
} from '@grpc/grpc-js';
import { unavailable } from '../refusals.ts';
import { toServiceError } from './errors.ts';

interface Call {
  on(event: 'cancelled', listener: () => void): unknown;
}

interface StreamingCall extends Call {
  end(): unknown;
  emit(event: 'error', error: ServiceError): unknown;
}

/** Turns functions that return or throw into handlers of gRPC calls. Each gets a signal that is aborted when the
 *  client is gone, its deadline has passed, or, for calls that stream, when the server stops. */
export class Calls {
  readonly #streaming = new Set<AbortController>();

  /** Ends the calls that stream: their clients hear UNAVAILABLE and connect again. */
  stop(): void {
    for (const call of this.#streaming) call.abort(unavailable('the event store is stopping'));
  }

  unary<Req, Res>(handle: (request: Req, signal: AbortSignal) => Promise<Res>): handleUnaryCall<Req, Res> {
    return (call, callback) => {
      handle(call.request, cancellation(call).signal).then(
        (response) => callback(null, response),
        (error) => callback(toServiceError(error)),
      );
    };
  }

  clientStream<Req, Res>(
    handle: (call: ServerReadableStream<Req, Res>, signal: AbortSignal) => Promise<Res>,
  ): handleClientStreamingCall<Req, Res> {
    return (call, callback) => {
      handle(call, cancellation(call).signal).then(
        (response) => callback(null, response),
        (error) => callback(toServiceError(error)),
      );
    };
  }

  /** Writes no faster than the client reads. */
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

  #stream(call: StreamingCall, work: (signal: AbortSignal) => Promise<void>): void {
    const controller = cancellation(call);
    const { signal } = controller;
    this.#streaming.add(controller);
    work(signal)
      .then(
        () => (signal.aborted ? call.emit('error', toServiceError(signal.reason)) : call.end()),
        (error) => call.emit('error', toServiceError(signal.aborted ? signal.reason : error)),
      )
      .finally(() => this.#streaming.delete(controller));
  }
}

const cancellation = (call: Call): AbortController => {
  const controller = new AbortController();
  call.on('cancelled', () => controller.abort(new Error('the call was cancelled')));
  return controller;
};
