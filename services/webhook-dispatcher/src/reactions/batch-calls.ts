interface Call<T> {
  readonly items: readonly T[];
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/** Batches concurrent calls: those that arrive while `handle` runs share its next run. So partitions that are consumed
 *  concurrently share transactions. If a batch fails, each of its calls is handled by itself, so that one cannot fail
 *  another. */
export const batchCalls = <T>(handle: (items: readonly T[]) => Promise<void>) => {
  const waiting: Call<T>[] = [];
  let isRunning = false;

  const handleCalls = async (calls: readonly Call<T>[]): Promise<void> => {
    try {
      await handle(calls.flatMap(({ items }) => items));
      for (const { done } of calls) done();
    } catch (error) {
      if (calls.length === 1) calls[0]!.fail(error);
      else for (const call of calls) await handleCalls([call]);
    }
  };
  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) await handleCalls(waiting.splice(0));
    isRunning = false;
  };
  return (items: readonly T[]): Promise<void> =>
    new Promise((done, fail) => {
      waiting.push({ items, done, fail });
      if (!isRunning) void run();
    });
};
