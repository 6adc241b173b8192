interface Call<T> {
  readonly items: readonly T[];
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/** Handles what comes while it is at work in one go afterwards: partitions that are consumed side by side share a transaction. When that
 *  fails each call is tried by itself, so that none fails for the sake of another. */
export const together = <T>(handle: (items: readonly T[]) => Promise<void>) => {
  const waiting: Call<T>[] = [];
  let running = false;

  const settle = async (calls: readonly Call<T>[]): Promise<void> => {
    try {
      await handle(calls.flatMap(({ items }) => items));
      for (const { done } of calls) done();
    } catch (error) {
      if (calls.length === 1) calls[0]!.fail(error);
      else for (const call of calls) await settle([call]);
    }
  };
  const run = async () => {
    running = true;
    while (waiting.length > 0) await settle(waiting.splice(0));
    running = false;
  };
  return (items: readonly T[]): Promise<void> =>
    new Promise((done, fail) => {
      waiting.push({ items, done, fail });
      if (!running) void run();
    });
};
