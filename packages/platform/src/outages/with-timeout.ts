/** Resolves to the result of `work`, or rejects after `ms`. It does not cancel `work`. */
export const withTimeout = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
};

/** Runs `work` with a signal that aborts with `signal`, or with a TimeoutError after `ms`.
 *  In Node.js 20, `AbortSignal.any` lets an `AbortSignal.timeout` be collected as garbage before it fires
 *  (nodejs/node#57736). */
export const withTimeoutSignal = async <T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new DOMException(`timed out after ${ms} ms`, 'TimeoutError')), ms);
  try {
    return await work(AbortSignal.any([signal, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
};
