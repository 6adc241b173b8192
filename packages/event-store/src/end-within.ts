import { within } from '@cpg/runtime';
import type { StreamingRead } from '@eventstore/db-client';

/** What `work` on a read comes to, or an error when that takes longer: the client sets no end to reads, whatever it is told. Nothing is
 *  left open when it fails. */
export const endWithin = async <T>(ms: number, reading: StreamingRead<unknown>, work: Promise<T>): Promise<T> => {
  try {
    return await within(ms, work);
  } catch (error) {
    void reading.cancel().catch(() => {});
    reading.destroy();
    throw error;
  }
};
