import type { Logger } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import type { Scope } from './api-key.ts';
import { createLastUsedTracker } from './last-used.ts';

/** The last day, in UTC, on which a key used a scope. */
export interface ScopeUse {
  readonly kid: string;
  readonly scope: Scope;
  readonly day: string;
}

export interface ScopeUseTracker {
  readonly record: (kid: string, scope: Scope, at: Date) => void;
  /** Stops the timer and writes what is not yet written. */
  readonly stop: () => Promise<void>;
}

/** Collects on which day each key used each scope, and writes it in batches. A request costs a statement only if its
 *  key did not use the scope earlier on the day. */
export const createScopeUseTracker = ({
  write,
  ...options
}: {
  write: (uses: readonly ScopeUse[]) => Promise<void>;
  log: Logger;
  everyMs?: number;
}): ScopeUseTracker => {
  const uses = createLastUsedTracker<ScopeUse>({ write: (batch) => write([...batch.values()]), ...options });
  const seen = new Set<string>();
  let today = '';
  return {
    record: (kid, scope, at) => {
      const day = at.toISOString().slice(0, 10);
      if (day !== today) seen.clear();
      today = day;
      const use = `${kid} ${scope}`;
      if (seen.has(use)) return;
      seen.add(use);
      uses.record(use, { kid, scope, day });
    },
    stop: uses.stop,
  };
};

/** Stores on which day keys used scopes last. Never replaces a later day by an earlier one. */
export const updateScopeUses = async (db: Queryable, uses: readonly ScopeUse[]): Promise<void> => {
  await db.query(
    `insert into gateway.api_key_scopes as known (kid, scope, last_used_on)
     select kid, scope, day from unnest($1::text[], $2::text[], $3::date[]) as used (kid, scope, day) order by kid, scope
     on conflict (kid, scope) do update set last_used_on = excluded.last_used_on
       where known.last_used_on < excluded.last_used_on`,
    [uses.map(({ kid }) => kid), uses.map(({ scope }) => scope), uses.map(({ day }) => day)],
  );
};

/** The last uses of scopes by these keys, in the order of the scopes. */
export const scopeUsesOf = async (db: Queryable, kids: readonly string[]): Promise<ScopeUse[]> => {
  const { rows } = await db.query<ScopeUse>(
    `select kid, scope, last_used_on::text as day from gateway.api_key_scopes where kid = any($1) order by kid, scope`,
    [kids],
  );
  return rows;
};
