import type { Pool } from '@cpg/postgres';

/** A pool on which the answers to one statement, which goes by its name or else by how it begins, may come late. */
export const latePool = (pool: Pool, statement: string) => {
  let isLate = false;
  let arrive: (() => void)[] = [];
  let answered = () => {};
  const query = async (...args: unknown[]) => {
    const [asked] = args as [string | { name?: string }];
    const late = isLate && (typeof asked === 'string' ? asked : (asked.name ?? '')).startsWith(statement);
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
