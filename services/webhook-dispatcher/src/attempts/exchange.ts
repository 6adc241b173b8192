import type { Dispatcher } from 'undici';
import { BlockedAddressError } from './connect.ts';
import type { Attempt } from '../delivery/delivery.ts';

/** How many bytes of a response's body are read. */
export const RESPONSE_BYTES = 16 * 1_024;
/** How many characters of it are recorded. */
const RECORDED_CHARACTERS = 1_024;

/** How a request ended. */
export type Ending = Omit<Attempt, 'startedAt' | 'durationMs'>;

/** Ends a request without a result. */
export class AbortedError extends Error {}
class TimeoutError extends Error {}

/** Handles one request and its response. Calls `onEnd` once; with null when the request was aborted. */
export const createExchange = (onEnd: (ending: Ending | null) => void) => {
  let controller: Dispatcher.DispatchController | undefined;
  let status = 0;
  let retryAfter: string | undefined;
  let received = 0;
  let ended = false;
  const chunks: Buffer[] = [];

  const finish = (ending: Ending | null) => {
    if (ended) return;
    ended = true;
    onEnd(ending);
  };
  const answered = (): Ending => ({
    outcome: status >= 200 && status < 300 ? 'delivered' : 'refused',
    statusCode: status,
    retryAfter,
    response: textOf(chunks),
  });
  const fail = (error: Error) => {
    if (error instanceof AbortedError) return finish(null);
    finish({
      outcome: outcomeOf(error),
      ...(status > 0 && { statusCode: status, response: textOf(chunks) }),
      error: printable(describe(error)),
    });
  };
  const abort = (error: Error) => {
    fail(error);
    controller?.abort(error);
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (started) => {
      controller = started;
      // The attempt timed out while it waited for a connection.
      if (ended) started.abort(new TimeoutError('the attempt has timed out'));
    },
    onResponseStart: (_controller, statusCode, headers) => {
      if (statusCode < 200) return;
      status = statusCode;
      const header = headers['retry-after'];
      retryAfter = Array.isArray(header) ? header[0] : header;
    },
    onResponseData: (current, chunk) => {
      if (received < RESPONSE_BYTES) chunks.push(chunk.subarray(0, RESPONSE_BYTES - received));
      received += chunk.length;
      if (received <= RESPONSE_BYTES) return;
      // The status decides the outcome; the rest of the body is not needed.
      finish(answered());
      current.abort(new AbortedError('the response body is too long'));
    },
    onResponseEnd: () => finish(answered()),
    onResponseError: (_controller, error) => fail(error),
  };
  return {
    handler,
    timeOut: () => abort(new TimeoutError('the attempt took too long')),
    abort,
  };
};

const outcomeOf = (error: Error): Attempt['outcome'] => {
  if (error instanceof BlockedAddressError) return 'blocked';
  const timedOut = error instanceof TimeoutError || (error as { code?: string }).code === 'UND_ERR_CONNECT_TIMEOUT';
  return timedOut ? 'timed_out' : 'unreachable';
};

/** Node's error for a host whose addresses all failed has no message, but the error of each address. */
const describe = (error: Error): string => {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(String).join('; ');
  const { code } = error as { code?: string };
  return code && !error.message.includes(code) ? `${code}: ${error.message}` : error.message;
};

const textOf = (chunks: readonly Buffer[]): string | undefined =>
  chunks.length === 0 ? undefined : printable(Buffer.concat(chunks).toString('utf8'));

// PostgreSQL's text type stores every character but NUL.
const printable = (text: string): string => text.replaceAll('\0', '').slice(0, RECORDED_CHARACTERS);
