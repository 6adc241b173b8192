import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, ERROR_CODES, ErrorBody, type ErrorCode, INTERNAL_HEADERS, outcomeUnknown } from '@cpg/contracts';
import { Pool } from 'undici';
import { z } from 'zod';
import type { Outages } from '../outages/outages.ts';
import { type CallContext, contextHeaders } from './callers.ts';
import { refuseAfterDeadline } from './time-limits.ts';

export interface InternalClient {
  /** Calls another service and parses its response. Throws the AppError that the service answered. Throws
   *  `dependency_unavailable` when the service is unavailable, `overloaded` when the deadline of the context has
   *  passed, and `outcome_unknown` when a call other than a GET may have taken effect: it got no answer. */
  readonly call: <T extends z.ZodType>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    options: CallOptions<T>,
  ) => Promise<z.output<T>>;
  /** As `call`, but returns the text of the response as the service sent it, with its headers. */
  readonly callForText: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    options: Omit<CallOptions<never>, 'response'>,
  ) => Promise<Pick<HttpResponse, 'text' | 'headers'>>;
  /** Rejects unless the service is ready. */
  readonly checkReady: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

interface CallOptions<T extends z.ZodType> {
  readonly context: CallContext;
  readonly response: T;
  /** Undefined values are omitted. */
  readonly query?: object;
  readonly body?: unknown;
  /** Timeout of each attempt. Default: 10 s. */
  readonly timeoutMs?: number;
  /** How long to retry while the service refuses connections, for example during a restart. Default: 8 s. */
  readonly connectRetryMs?: number;
  /** Whether the call may run twice. Then it is retried once when its connection breaks: a stopping service resets
   *  connections that it has not accepted yet. Default: true. */
  readonly idempotent?: boolean;
}

const TIMEOUT_MS = 10_000;
// Shorter than a service keeps idle connections open (72 s, the default of Fastify). Only a stopping service closes one
// under a call, which then is retried.
const KEEP_ALIVE_MS = 30_000;
// Shorter than a stopping service keeps idle connections open (drain.ts): for calls that cannot be retried.
const SHORT_KEEP_ALIVE_MS = 500;

interface InternalClientOptions {
  readonly name: string;
  readonly url: string;
  /** The tokens of this process for the service. The first one is sent. */
  readonly tokens: readonly string[];
  /** Follows the outages of the service. */
  readonly outages?: Pick<Outages, 'watch'>;
}

/** A client for one service over kept-alive connections. Error messages call the service `name`. */
export const internalClient = ({ name, url, tokens, outages }: InternalClientOptions): InternalClient => {
  const pool = poolOf(url, KEEP_ALIVE_MS);
  const shortLived = poolOf(url, SHORT_KEEP_ALIVE_MS);
  const send = retryingSender((request, idempotent) => sendRequest(idempotent ? pool : shortLived, request));
  const client: InternalClient = {
    call: async (method, path, { response, ...options }) => {
      const { text } = await client.callForText(method, path, options);
      return response.parse(text === '' ? undefined : JSON.parse(text));
    },
    callForText: async (method, path, { context, query, body, timeoutMs = TIMEOUT_MS, ...options }) => {
      refuseAfterDeadline(context);
      const request: HttpRequest = {
        method,
        path: query ? `${path}?${queryString(query)}` : path,
        headers: {
          ...contextHeaders(context),
          authorization: `Bearer ${tokens[0]}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        timeoutMs,
        deadlineMs: context.deadlineMs ?? Infinity,
      };
      const { connectRetryMs = DEFAULT_CONNECT_RETRY_MS, idempotent = true } = options;
      const answer = await send(request, { connectRetryMs, idempotent }).catch((cause: unknown) => {
        throw unavailable(name, method, cause);
      });
      if (answer.status >= 400) throw errorOf(name, method, answer.status, answer.text);
      return answer;
    },
    checkReady: () =>
      client.call('GET', '/health/ready', { context: READINESS, response: z.unknown(), connectRetryMs: 0 }),
    close: async () => void (await Promise.all([pool.close(), shortLived.close()])),
  };
  outages?.watch(name, { check: client.checkReady });
  return client;
};

const poolOf = (url: string, keepAliveMs: number): Pool =>
  new Pool(url, {
    connections: 64,
    connect: { timeout: 2_000 },
    // `sendRequest` limits the time of each call.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
  });

const READINESS: CallContext = { actor: 'service:readiness', requestId: 'readiness', correlationId: 'readiness' };

const queryString = (query: object): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  ).toString();

const sendRequest = async (
  pool: Pool,
  { timeoutMs, deadlineMs, headers, ...options }: HttpRequest,
): Promise<HttpResponse> => {
  const waitsMs = Math.max(0, Math.floor(Math.min(timeoutMs, deadlineMs - performance.now())));
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new DOMException(`timed out after ${waitsMs} ms`, 'TimeoutError')),
    waitsMs,
  );
  try {
    const {
      statusCode,
      headers: answered,
      body,
    } = await pool.request({
      ...options,
      headers: { ...headers, [INTERNAL_HEADERS.deadline]: String(waitsMs) },
      signal: timeout.signal,
    });
    return { status: statusCode, headers: answered, text: await body.text() };
  } finally {
    clearTimeout(timer);
  }
};

/** The AppError in a response. A refused token, a 500 or an unknown format is an internal error of the calling
 *  service. */
const errorOf = (name: string, method: string, status: number, text: string): AppError => {
  const body = ErrorBody.safeParse(parseJson(text));
  if (body.success && Object.hasOwn(ERROR_CODES, body.data.code) && !INTERNAL.has(body.data.code)) {
    const code = body.data.code as ErrorCode;
    return new AppError(code, body.data.message, {
      details: body.data.details ?? [],
      answeredBy: name,
      ...(MEANS_UNAVAILABLE.has(code) && { dependency: name }),
    });
  }
  // A proxy can answer 503 for a service that has received the call.
  return status === 503
    ? unavailable(name, method, new Error(`${name} answered 503`))
    : new AppError('internal_error', `${name} answered ${status}`, { answeredBy: name, cause: REFUSALS[status] });
};

const INTERNAL: ReadonlySet<string> = new Set<ErrorCode>(['unauthorized', 'insufficient_scope', 'internal_error']);

const REFUSALS: Record<number, string> = {
  401: 'the service does not know the token of this process: both need the same value',
  403: 'this process may not make the call',
};

/** To the caller, the service itself is unavailable, whichever of its own dependencies is. */
const MEANS_UNAVAILABLE = new Set<ErrorCode>(['dependency_unavailable', 'outcome_unknown']);

/** Failures to connect: the call was not sent. */
const NOT_SENT = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

const unavailable = (name: string, method: string, cause: unknown): AppError =>
  method === 'GET' || NOT_SENT.has((cause as { code?: string }).code ?? '')
    ? new AppError('dependency_unavailable', `${name} is temporarily unavailable: retry the request`, {
        cause,
        dependency: name,
      })
    : outcomeUnknown(`${name} did not answer, and the request may have taken effect`, cause, name);

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly timeoutMs: number;
  /** The value of `performance.now()` after which nobody waits for the response. */
  readonly deadlineMs: number;
}

interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface RetryPolicy {
  /** How long to retry while connections are refused. */
  readonly connectRetryMs: number;
  /** Whether to retry after a connection broke, when the service may already have processed the request. */
  readonly idempotent: boolean;
}

const DEFAULT_CONNECT_RETRY_MS = 8_000;

const BROKEN_CONNECTION = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const BROKEN_CONNECTION_ATTEMPTS = 2;

/** Wraps `send` with retries for refused and broken connections. Concurrent calls share the time since the first
 *  refusal: once a service has refused connections for longer than a restart takes, further calls fail at once. */
const retryingSender = (send: (request: HttpRequest, idempotent: boolean) => Promise<HttpResponse>) => {
  let refusals: { readonly since: number; last: number } | null = null;

  /** Records a refused connection. Returns how long the service has refused connections, in ms. */
  const recordRefusal = (): number => {
    const now = performance.now();
    if (!refusals || now - refusals.last > DEFAULT_CONNECT_RETRY_MS) refusals = { since: now, last: now };
    refusals.last = now;
    return now - refusals.since;
  };

  return async (request: HttpRequest, { connectRetryMs, idempotent }: RetryPolicy): Promise<HttpResponse> => {
    let brokenConnections = 0;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response = await send(request, idempotent);
        refusals = null;
        return response;
      } catch (error) {
        const { code = '' } = error as { code?: string };
        if (code === 'ECONNREFUSED') {
          if (recordRefusal() >= connectRetryMs) throw error;
        } else {
          brokenConnections += 1;
          const isLastAttempt = brokenConnections >= BROKEN_CONNECTION_ATTEMPTS;
          if (!idempotent || !BROKEN_CONNECTION.has(code) || isLastAttempt) throw error;
        }
        await sleep(Math.min(20 * 2 ** attempt, 200) * (0.5 + Math.random() / 2));
      }
    }
  };
};
