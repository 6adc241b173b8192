import type { Pool } from '@cpg/postgres';

/** A pool on which the answers to one statement, which goes by its name, may come late. */
export const latePool = (pool: Pool, statement: string) => {
  let isLate = false;
  let arrive: (() => void)[] = [];
  let answered = () => {};
  const query = async (...args: unknown[]) => {
    const late = isLate && (args[0] as { name?: string }).name === statement;
    const answer: unknown = await (pool.query as (...args: unknown[]) => Promise<unknown>).apply(pool, args);
    if (late) {
      await new Promise<void>((done) => {
        arrive.push(done);
        answered();
      });
    }
    return answer;
  };
  return {
    pool: new Proxy(pool, { get: (target, key) => (key === 'query' ? query : Reflect.get(target, key, target)) }),
    /** From now on answers are held back. Resolves once there is one. */
    holdBack: () => {
      isLate = true;
      return new Promise<void>((done) => {
        answered = done;
      });
    },
    letArrive: () => {
      isLate = false;
      for (const done of arrive) done();
      arrive = [];
    },
  };
};
