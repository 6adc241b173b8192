import type { Pool } from 'undici';

/** A method of JSON-RPC and its parameters. */
export type Call = readonly [string, readonly unknown[]];

/** Fetches the answers to some calls at once, parses them and drops them. */
export const fetchOnly = async (pool: Pool, calls: readonly Call[]): Promise<void> => {
  await Promise.all(
    calls.map(async ([method, params]) => {
      const { body } = await pool.request({
        method: 'POST',
        path: '/',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      const answer = (await body.json()) as { result?: unknown };
      if (!answer.result) throw new Error(`${method} gave no result`);
    }),
  );
};
