import type { ApiKey } from '@cpg/sdk';

const UNUSED_DAYS = 30;
const DAY_MS = 86_400_000;

/** The scopes that a key did not use for 30 days. None of a key that is younger, or was changed since: a scope may be
 *  as new as the change. */
export const unusedScopes = (key: ApiKey, nowMs: number): string[] => {
  const since = nowMs - UNUSED_DAYS * DAY_MS;
  if (key.status !== 'active' || Date.parse(key.updated_at ?? key.created_at) > since) return [];
  const sinceDay = new Date(since).toISOString().slice(0, 10);
  const used = new Set<string>(
    key.scopes_last_used.flatMap(({ scope, last_used_on: day }) => (day >= sinceDay ? [scope] : [])),
  );
  return key.scopes.filter((scope) => !used.has(scope));
};
