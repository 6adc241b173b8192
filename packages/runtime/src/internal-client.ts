import { ErrorBody } from '@cpg/contracts';
import { AppError, ERROR_CODES, type ErrorCode } from '@cpg/core';
import { Pool } from 'undici';
import type { z } from 'zod';
import { type CallContext, contextHeaders } from './context.ts';

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
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 8_000;

/** Calls to one service, over kept-alive connections. `name` is what an error calls it. */
export const internalClient = ({ name, url, token }: { name: string; url: string; token: string }): InternalClient => {
  const pool = new Pool(url, { connections: 64, connect: { timeout: 2_000 } });
  return {
    call: async (method, path, { context, response, body, timeoutMs = TIMEOUT_MS }) => {
      const { status, text } = await request(pool, name, {
        method,
        path,
        headers: {
          ...contextHeaders(context),
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        timeoutMs,
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

const request = async (
  pool: Pool,
  name: string,
  { timeoutMs, ...options }: Request,
): Promise<{ status: number; text: string }> => {
  try {
    const { statusCode, body } = await pool.request({
      ...options,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: statusCode, text: await body.text() };
  } catch (cause) {
    throw new AppError('dependency_unavailable', `${name} is not available right now: try again`, { cause });
  }
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
