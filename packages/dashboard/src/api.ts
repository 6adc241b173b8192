import type { ApiErrorDetail } from '@cpg/sdk';

/** A request that was refused, or that got no answer (`status` 0). */
export class Failure extends Error {
  override name = 'Failure';
  readonly status: number;
  readonly code: string;
  readonly details: readonly ApiErrorDetail[];
  readonly requestId: string | undefined;
  /** Seconds to wait, if the gateway said so. */
  readonly retryAfter: number | undefined;
  /** The scope that the role of the user lacks. */
  readonly requiredScope: string | undefined;

  constructor(
    message: string,
    facts: {
      status: number;
      code: string;
      details?: readonly ApiErrorDetail[];
      requestId?: string | undefined;
      retryAfter?: number | undefined;
      requiredScope?: string | undefined;
    },
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.details = facts.details ?? [];
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.requiredScope = facts.requiredScope;
  }
}

/** Without an answer, or with one that says to try again, nothing is known to have failed for good. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof Failure && (error.status === 0 || error.status === 429 || error.status >= 500);

/** For how long the gateway asked to send nothing. */
export const retryAfterMs = (error: unknown): number =>
  error instanceof Failure && error.retryAfter !== undefined ? error.retryAfter * 1_000 : 0;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface SendOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** The same for each attempt of one press of a button. */
  readonly idempotencyKey?: string | undefined;
}

let csrfToken = '';
let onSignedOut: () => void = () => {};

/** Of the session, for every request that changes something. */
export const setCsrfToken = (token: string): void => {
  csrfToken = token;
};

/** Called when the gateway no longer knows the session. */
export const listenForSignOut = (listener: () => void): void => {
  onSignedOut = listener;
};

/** Their 401 is an answer to who signs in, and ends no session. */
const SIGN_IN_PATHS: readonly string[] = ['/v1/sessions', '/v1/sessions/current'];

/** Calls the gateway with the session of its cookie. Throws `Failure`. */
export const call = async <T>(method: Method, path: string, options: SendOptions = {}): Promise<T> => {
  const response = await answerTo(method, path, options);
  const body = await bodyOf(response);
  if (response.ok) return body as T;
  if (response.status === 401 && !SIGN_IN_PATHS.includes(path)) onSignedOut();
  throw failureOf(response, body);
};

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => call<T>('GET', path, { signal });

/** Loads a part of the program. If the gateway cannot be reached, throws the failure that a request for data throws.
 *  Any other error means that a newer version has replaced the file, and the router then loads the page anew. */
export const orNoAnswer =
  <T>(load: () => Promise<T>) =>
  async (): Promise<T> => {
    try {
      return await load();
    } catch (error) {
      if (await isReachable()) throw error;
      throw new Failure('', { status: 0, code: 'no_answer' });
    }
  };

const isReachable = (): Promise<boolean> =>
  fetch('/dashboard', { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  );

const answerTo = async (method: Method, path: string, { body, signal, idempotencyKey }: SendOptions) => {
  try {
    return await fetch(path, {
      method,
      credentials: 'same-origin',
      // A list that changed must not come from a cache.
      cache: 'no-store',
      headers: {
        accept: 'application/json',
        ...(method !== 'GET' && csrfToken !== '' && { 'x-csrf-token': csrfToken }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new Failure('', { status: 0, code: 'no_answer' });
  }
};

const bodyOf = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
};

const failureOf = ({ status, headers }: Response, body: unknown): Failure => {
  const { message, code, details, request_id, required_scope } = (body ?? {}) as Record<string, unknown>;
  const retryAfter = Number(headers.get('retry-after') ?? NaN);
  return new Failure(typeof message === 'string' ? message : '', {
    status,
    code: typeof code === 'string' ? code : `status_${status}`,
    details: Array.isArray(details) ? (details as ApiErrorDetail[]) : [],
    requestId: typeof request_id === 'string' ? request_id : (headers.get('x-request-id') ?? undefined),
    ...(Number.isFinite(retryAfter) && { retryAfter }),
    ...(typeof required_scope === 'string' && { requiredScope: required_scope }),
  });
};
