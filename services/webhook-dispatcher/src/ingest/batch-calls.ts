interface Call<T> {
  readonly items: readonly T[];
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

const MAX_ITEMS = 1_000;

/** Batches concurrent calls, up to 1,000 items at a time.
 *  Calls that are made together share a run of `handle`: all partitions of a fetch share a transaction.
 *  Calls that arrive during a run share the next one.
 *  If a batch fails, each of its calls is handled by itself, so that one cannot fail another. */
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
    // A tick comes after the calls for the other partitions of the fetch.
    await new Promise<void>((done) => process.nextTick(done));
    while (waiting.length > 0) await handleCalls(takeFrom(waiting));
    isRunning = false;
  };
  return (items: readonly T[]): Promise<void> =>
    new Promise((done, fail) => {
      waiting.push({ items, done, fail });
      if (!isRunning) void run();
    });
};

/** Removes the oldest calls, at least one. */
const takeFrom = <T>(waiting: Call<T>[]): Call<T>[] => {
  const taken = waiting.splice(0, 1);
  let size = taken[0]!.items.length;
  while (waiting.length > 0 && size + waiting[0]!.items.length <= MAX_ITEMS) {
    size += waiting[0]!.items.length;
    taken.push(waiting.shift()!);
  }
  return taken;
};
