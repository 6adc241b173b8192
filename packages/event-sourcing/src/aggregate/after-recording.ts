import { isTemporary, outcomeUnknown } from '@cpg/contracts';
import { isTransientDatabaseError } from '@cpg/platform/postgres';

/** Runs a step that follows a recorded event, such as the projection before the answer. When a dependency is
 *  unavailable it throws `outcome_unknown`, because the caller must not believe that nothing was done. The step is done
 *  later, by a repeat or from the log. */
export const afterRecording = async <T>(step: () => Promise<T>): Promise<T> => {
  try {
    return await step();
  } catch (error) {
    if (!isTransientDatabaseError(error) && !isTemporary(error)) throw error;
    throw outcomeUnknown('the request took effect, but a dependency became unavailable before the answer', error);
  }
};
