import type { Pool } from '@cpg/platform/postgres';

/** A pool that can delay the answers to one statement, given by its name or by how its text begins. */
export const delayedPool = (pool: Pool, statement: string) => {
  let isDelaying = false;
  let delayed: (() => void)[] = [];
  let onAnswer = () => {};
  const query = async (...args: unknown[]) => {
    const [asked] = args as [string | { name?: string }];
    const delays = isDelaying && (typeof asked === 'string' ? asked : (asked.name ?? '')).startsWith(statement);
    const answer: unknown = await (pool.query as (...args: unknown[]) => Promise<unknown>).apply(pool, args);
    if (delays) {
      await new Promise<void>((done) => {
        delayed.push(done);
        onAnswer();
      });
    }
    return answer;
  };
  return {
    pool: new Proxy(pool, { get: (target, key) => (key === 'query' ? query : Reflect.get(target, key, target)) }),
    /** Delays answers from now on. Resolves once the database has answered. */
    delayAnswers: () => {
      isDelaying = true;
      return new Promise<void>((done) => {
        onAnswer = done;
      });
    },
    deliverAnswers: () => {
      isDelaying = false;
      for (const done of delayed) done();
      delayed = [];
    },
  };
};
