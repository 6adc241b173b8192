import createOpenApiClient from 'openapi-fetch';
import type { Route } from '../generated/methods.ts';
import { ApiError, ConnectionError } from './errors.ts';
import type { RawResponse, RequestOptions } from './methods.ts';
import { isWorthRetrying, retryAfterMs, waitMs } from './retries.ts';

export interface ClientOptions {
  /** The address of the gateway, like `https://pay.example.com`. */
  readonly baseUrl: string;
  /** `ak_sandbox_…` or `ak_live_…`. Keep it on your server. Some operations of a sandbox need none. */
  readonly apiKey?: string;
  /** Milliseconds for one attempt, its answer included: 30,000 by default. */
  readonly timeoutMs?: number;
  /** How often a request may be sent again: 3 by default. */
  readonly maxRetries?: number;
  /** The longest `Retry-After` that the client waits for, in milliseconds: 60,000 by default. */
  readonly maxRetryAfterMs?: number;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** A call with its arguments by their place in the request. */
export interface ApiRequest {
  readonly path: Record<string, string>;
  readonly body?: unknown;
  readonly query?: Record<string, unknown>;
  readonly options: RequestOptions;
}

export interface Timing {
  readonly random: () => number;
  readonly now: () => number;
  readonly pause: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export type Send = (route: Route, request: ApiRequest) => Promise<RawResponse<unknown>>;

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 3;
const MAX_RETRY_AFTER_MS = 60_000;

/** Sends requests and retries them. */
export const createSender = (client: ClientOptions, timing: Timing = realTiming): Send => {
  checkOptions(client);
  const { baseUrl, apiKey, headers, fetch, maxRetryAfterMs = MAX_RETRY_AFTER_MS } = client;
  const api = createOpenApiClient<Record<string, never>>({
    baseUrl,
    headers: { ...headers, ...(apiKey !== undefined && { 'x-api-key': apiKey }) },
    // The API never redirects. To follow one could send the key to another host.
    redirect: 'manual',
    // Serialized before, so that every attempt sends the same bytes.
    bodySerializer: (body) => body,
    ...(fetch && { fetch }),
  });

  const attempt = async (
    { method, path }: Route,
    request: ApiRequest,
    { key, body }: { key: string | undefined; body: string | undefined },
  ): Promise<RawResponse<unknown>> => {
    const { options } = request;
    const { timeoutMs = client.timeoutMs ?? TIMEOUT_MS } = options;
    const limit = timeLimit(timeoutMs, options.signal);
    try {
      const { data, error, response } = await api.request(
        method.toLowerCase() as never,
        path as never,
        {
          params: { path: request.path, query: request.query },
          body,
          parseAs: 'text',
          headers: { ...(key !== undefined && { 'idempotency-key': key }), ...options.headers },
          signal: limit.signal,
        } as never,
      );
      if (!response.ok) throw new ApiError(response, error, key);
      return { data: parsed(data ?? '', response, key), response };
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      options.signal?.throwIfAborted();
      const place = `${method} ${baseUrl}${path}`;
      if (limit.hasPassed()) {
        throw new ConnectionError('timeout', `${place}: no answer within ${timeoutMs} ms`, { cause, key });
      }
      throw new ConnectionError('network', `${place}: ${messageOf(cause)}`, { cause, key });
    } finally {
      limit.clear();
    }
  };

  return async (route, request) => {
    const { options } = request;
    const key = route.keyed ? (options.idempotencyKey ?? newKey()) : undefined;
    const isRepeatable = key !== undefined || ['GET', 'PUT', 'DELETE'].includes(route.method);
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const maxRetries = options.maxRetries ?? client.maxRetries ?? MAX_RETRIES;
    for (let retry = 1; ; retry++) {
      options.signal?.throwIfAborted();
      try {
        return await attempt(route, request, { key, body });
      } catch (error) {
        const isGone = options.signal?.aborted === true;
        if (isGone || retry > maxRetries || !isWorthRetrying(error, isRepeatable)) throw error;
        const retryAfter = retryAfterMs(error, timing.now());
        if (retryAfter > maxRetryAfterMs) throw error;
        const wait = waitMs(retry, maxRetries, error, timing.random());
        await timing.pause(Math.max(wait, retryAfter), options.signal);
      }
    }
  };
};

/** The names of all options. */
const CLIENT_OPTION_NAMES = {
  baseUrl: true,
  apiKey: true,
  timeoutMs: true,
  maxRetries: true,
  maxRetryAfterMs: true,
  headers: true,
  fetch: true,
} satisfies Record<keyof ClientOptions, true>;

/** A misspelled option would be an option without effect. Throws TypeError. */
export const checkNames = (place: string, options: unknown, names: Readonly<Record<string, true>>): void => {
  const known = `the options are ${Object.keys(names).join(', ')}`;
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${place}: options must be an object: ${known}`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name));
  if (unknown !== undefined) throw new TypeError(`${place}: ${unknown} is no option: ${known}`);
};

/** Types alone do not stop a setting that is missing in the environment. Throws TypeError. */
const checkOptions = (client: ClientOptions | undefined): void => {
  const { baseUrl, apiKey } = client ?? ({} as Partial<ClientOptions>);
  if (typeof baseUrl !== 'string' || !/^https?:\/\//.test(baseUrl))
    throw new TypeError(
      'baseUrl must be the address of the gateway, like https://pay.example.com: check the setting that it comes from',
    );
  if (/\/v1\/*$/.test(baseUrl)) throw new TypeError('baseUrl must not end with /v1: the client adds it');
  if (client && 'apiKey' in client && (typeof apiKey !== 'string' || apiKey === ''))
    throw new TypeError(
      'apiKey is empty: check the setting that it comes from, or leave it out for operations that need no key',
    );
  checkNames('createClient', client, CLIENT_OPTION_NAMES);
};

const parsed = (text: string, response: Response, key: string | undefined): unknown => {
  if (text === '') return undefined;
  if (response.headers.get('content-type')?.startsWith('text/csv')) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(response, text, key);
  }
};

/** A signal that aborts after `ms` or with the caller's signal. AbortSignal.any is missing in Node.js 18. */
const timeLimit = (ms: number, outer: AbortSignal | undefined) => {
  const controller = new AbortController();
  let passed = false;
  const timer = setTimeout(() => {
    passed = true;
    controller.abort();
  }, ms);
  const abort = () => controller.abort(outer?.reason);
  if (outer?.aborted) abort();
  outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    hasPassed: () => passed,
    clear: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
};

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((done, fail) => {
    const end = () => {
      clearTimeout(timer);
      fail(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      done();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });

const realTiming: Timing = { random: Math.random, now: Date.now, pause };

/** A key that no other call has. It is no secret: Node.js 18, which has no global WebCrypto, gets time and random
 *  digits. */
const newKey = (): string => {
  const { crypto } = globalThis as { crypto?: { randomUUID: () => string } };
  if (crypto !== undefined) return crypto.randomUUID();
  const digits = Array.from({ length: 24 }, () => Math.floor(Math.random() * 36).toString(36));
  return `${Date.now().toString(36)}-${digits.join('')}`;
};

const messageOf = (error: unknown): string => {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof Error && cause.message !== '') return cause.message;
  return error instanceof Error ? error.message : String(error);
};
