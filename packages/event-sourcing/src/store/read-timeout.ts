import { withTimeout } from '@cpg/platform';
import type { StreamingRead } from '@eventstore/db-client';

/** Resolves to the result of `work` on a read, or rejects after `ms` milliseconds: the client ignores its own deadline
 *  option for reads. Closes the read when it rejects. */
export const withReadTimeout = async <T>(ms: number, reading: StreamingRead<unknown>, work: Promise<T>): Promise<T> => {
  try {
    return await withTimeout(ms, work);
  } catch (error) {
    reading.destroy();
    throw error;
  }
};
