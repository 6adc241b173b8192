import { setTimeout as sleep } from 'node:timers/promises';
import { ErrorBody } from '@cpg/contracts';
import { AppError, ERROR_CODES, type ErrorCode } from '@cpg/core';
import { Pool } from 'undici';
import type { z } from 'zod';
import { type CallContext, contextHeaders } from './call-context.ts';

export interface InternalClient {
  /** Calls another service and parses its answer. A refusal comes back as the AppError it was there; no answer in time, or a
   *  service that is away, is `dependency_unavailable`. Whether a call that got no answer took effect is unknown. */
  readonly call: <T extends z.ZodType>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    options: CallOptions<T>,
  ) => Promise<z.output<T>>;
  readonly close: () => Promise<void>;
}

export interface CallOptions<T extends z.ZodType> {
  readonly context: CallContext;
  readonly response: T;
  /** What is undefined of it is left out. */
  readonly query?: object;
  readonly body?: unknown;
  /** From the moment it is sent. */
  readonly timeoutMs?: number;
  /** How long to try again while the service refuses connections, as it does for a moment when it starts anew. */
  readonly connectRetryMs?: number;
  /** Whether the call may be made twice, as nearly all may. Then it is made again when its connection breaks: a service that stops resets
   *  those it has not accepted yet, and the call may have been on its way through one. */
  readonly idempotent?: boolean;
}

const TIMEOUT_MS = 10_000;
const REFUSED_MS = 8_000;
// Shorter than a service that stops leaves an idle connection open (drain.ts).
const KEEP_ALIVE_MS = 500;

const search = (query: object): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  ).toString();

/** Calls to one service, over kept-alive connections. `name` is what an error calls it. */
export const internalClient = ({ name, url, token }: { name: string; url: string; token: string }): InternalClient => {
  const pool = new Pool(url, {
    connections: 64,
    connect: { timeout: 2_000 },
    // Each call has a limit of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
  const send = untilDelivered((call: Request) => request(pool, call));
  return {
    call: async (method, path, { context, response, query, body, ...options }) => {
      const call = {
        method,
        path: query ? `${path}?${search(query)}` : path,
        headers: {
          ...contextHeaders(context),
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      };
      const { status, text } = await send(call, options).catch((cause: unknown) => {
        throw new AppError('dependency_unavailable', `${name} is not available right now: try again`, { cause });
      });
      if (status >= 400) throw refusal(name, status, text);
      return response.parse(text === '' ? undefined : JSON.parse(text));
    },
    close: () => pool.close(),
  };
};

type Request = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  body: string | null;
  timeoutMs: number;
};

type Answer = { status: number; text: string };

const request = async (pool: Pool, { timeoutMs, ...options }: Request): Promise<Answer> => {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError')),
    timeoutMs,
  );
  try {
    const { statusCode, body } = await pool.request({ ...options, signal: late.signal });
    return { status: statusCode, text: await body.text() };
  } finally {
    clearTimeout(timer);
  }
};

const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const BROKEN_TRIES = 2;

/** Sends again what a refused connection did not carry, for a while: once a service has refused for longer than it takes to start, it is
 *  taken to be away, and nobody waits for it. */
const untilDelivered = (send: (call: Request) => Promise<Answer>) => {
  let refusing: { readonly since: number; last: number } | null = null;
  return async (
    call: Request,
    {
      connectRetryMs: refusedMs = REFUSED_MS,
      idempotent: repeatable = true,
    }: Pick<CallOptions<never>, 'connectRetryMs' | 'idempotent'>,
  ): Promise<Answer> => {
    let broken = 0;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await send(call);
        refusing = null;
        return answer;
      } catch (error) {
        const { code = '' } = error as { code?: string };
        const now = performance.now();
        if (code === 'ECONNREFUSED') {
          if (!refusing || now - refusing.last > REFUSED_MS) refusing = { since: now, last: now };
          refusing.last = now;
          if (now - refusing.since >= refusedMs) throw error;
        } else {
          broken += 1;
          if (!repeatable || !BROKEN.has(code) || broken >= BROKEN_TRIES) throw error;
        }
        await sleep(Math.min(20 * 2 ** attempt, 200) * (0.5 + Math.random() / 2));
      }
    }
  };
};

const refusal = (name: string, status: number, text: string): AppError => {
  const body = ErrorBody.safeParse(parsed(text));
  if (body.success && Object.hasOwn(ERROR_CODES, body.data.code) && status !== 401 && status !== 500) {
    return new AppError(body.data.code as ErrorCode, body.data.message, { details: body.data.details ?? [] });
  }
  return new AppError(status === 503 ? 'dependency_unavailable' : 'internal_error', `${name} answered ${status}`);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
