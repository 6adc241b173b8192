import { createPool, type Pool } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';

export interface Pools {
  readonly main: Pool;
  /** For API keys alone: slow lists that use all other connections must not delay authentication. */
  readonly authentication: Pool;
  readonly end: () => Promise<void>;
}

/** Opens the connection pools of the gateway. A statement ends before its request is answered 503, after 12 s. */
export const openPools = ({
  url,
  name = 'gateway',
  statementTimeoutMs = 8_000,
  log,
}: {
  url: string;
  name?: string;
  statementTimeoutMs?: number | undefined;
  log: Logger;
}): Pools => {
  // PostgreSQL overestimates the rows that lists read, and would plan many statements each time.
  const settings = { plan_cache_mode: 'force_generic_plan' };
  const main = createPool({ url, name, statementTimeoutMs, settings, log });
  const authentication = createPool({ url, name: `${name} authentication`, max: 3, statementTimeoutMs: 3_000, log });
  return {
    main,
    authentication,
    end: async () => {
      await Promise.all([main.end(), authentication.end()]);
    },
  };
};
