import { type ErrorCode, StorageUnavailable, errorCode, errorCodeOf } from '../errors.ts';

export const groupErrorOf = (error: unknown): ErrorCode => errorCodeOf(error, errorCode.coordinatorNotAvailable);

/** Runs `act` and returns the error code of its refusal, or `none`. */
export const runAndGetError = (act: () => void): ErrorCode => {
  try {
    act();
    return errorCode.none;
  } catch (error) {
    return groupErrorOf(error);
  }
};

/** Settles as `result`, or rejects when `signal` is aborted: without it, a disconnected client would be waited for. */
export const unlessAborted = <T>(result: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise<T>((done, fail) => {
    const abort = () => fail(new StorageUnavailable());
    signal.addEventListener('abort', abort);
    result.then(done, fail).finally(() => signal.removeEventListener('abort', abort));
  });
