import { ApiError, ConnectionError } from '@cpg/sdk';

/** The answer of the gateway, or why there is none. Never an exception: a shop goes on without the gateway. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

export interface Fault {
  /** `unreachable`: no answer, or none of use; the request may have taken effect, so send it again with its key.
   *  `refused`: the gateway decided, and nothing was done. `invalid`: the shop's data cannot be sent. */
  readonly kind: 'unreachable' | 'refused' | 'invalid';
  /** The code of the API's error, such as `payment_in_progress`; of this client for `invalid`; otherwise
   *  `unreachable`. */
  readonly code: string;
  /** A sentence for the shop's log and staff. */
  readonly message: string;
}

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value });

export const invalid = (code: string, message: string): Outcome<never> => ({
  ok: false,
  fault: { kind: 'invalid', code, message },
});

/** Calls the gateway. Errors that are no answer of it, such as a missing setting, are faults of the program: they
 *  rise. */
export const ask = async <T>(call: () => PromiseLike<T>): Promise<Outcome<T>> => {
  try {
    return done(await call());
  } catch (error) {
    if (error instanceof ConnectionError) return { ok: false, fault: unreachable(error.message) };
    if (!(error instanceof ApiError)) throw error;
    const { code, message, status } = error;
    const isDecided = status >= 400 && status < 500 && status !== 429 && !UNDECIDED.has(code);
    return { ok: false, fault: isDecided ? { kind: 'refused', code, message } : unreachable(`${code}: ${message}`) };
  }
};

// Codes below 500 that decide nothing: the same request can pass later.
const UNDECIDED = new Set(['unreadable_answer', 'idempotency_key_in_use', 'concurrent_update', 'request_timeout']);

const unreachable = (message: string): Fault => ({ kind: 'unreachable', code: 'unreachable', message });
