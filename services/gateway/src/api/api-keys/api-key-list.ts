import type { Queryable } from '@cpg/platform/postgres';
import { startOfKeys } from '../../door/keys/api-key.ts';
import { type Credential, keyStatusAt } from '../../door/keys/credentials.ts';
import { type ScopeUse, scopeUsesOf } from '../../door/keys/scope-uses.ts';
import type { ListQuery } from '../lists/list-query.ts';
import { mapPage, type Page, selectPage } from '../lists/page.ts';
import type { ApiKey } from './api-key-schemas.ts';

export const listApiKeys = async (
  db: Queryable,
  merchantId: string,
  list: ListQuery,
  at: Date,
): Promise<Page<ApiKey>> => {
  const page = await selectPage<Shown>(db, {
    table: 'gateway.api_keys',
    columns: COLUMNS,
    owner: ['merchant_id', merchantId],
    filters: [],
    list,
  });
  const uses = await scopeUsesOf(
    db,
    page.items.map(({ kid }) => kid),
  );
  return mapPage(page, (key) => apiKeyOf(key, uses, at));
};

// Without the hash.
const COLUMNS = [
  'merchant_id',
  'kid',
  'status',
  'scopes',
  'last4',
  'label',
  'version',
  'environment',
  'allowed_ips',
  'updated_at',
  'last_used_at',
  'last_used_from',
  'rotated_at',
  'revoked_at',
  'expires_at',
] as const;
type Shown = Pick<Credential, 'id' | 'created_at' | (typeof COLUMNS)[number]>;

/** A key as its merchant sees it at `at`. */
export const showApiKey = async (db: Queryable, key: Shown, at: Date): Promise<ApiKey> =>
  apiKeyOf(key, await scopeUsesOf(db, [key.kid]), at);

const apiKeyOf = (key: Shown, uses: readonly ScopeUse[], at: Date): ApiKey => ({
  id: key.id,
  merchant_id: key.merchant_id,
  ...(key.label !== null && { label: key.label }),
  prefix: `${startOfKeys(key.environment)}${key.kid}`,
  last4: key.last4,
  environment: key.environment,
  scopes: key.scopes,
  scopes_last_used: uses
    .filter(({ kid, scope }) => kid === key.kid && key.scopes.includes(scope))
    .map(({ scope, day }) => ({ scope, last_used_on: day })),
  allowed_ips: key.allowed_ips,
  status: keyStatusAt(key, at),
  version: key.version,
  created_at: key.created_at.toISOString(),
  ...(key.last_used_from !== null && { last_used_from: key.last_used_from }),
  ...times(key, ['updated_at', 'last_used_at', 'expires_at', 'rotated_at', 'revoked_at']),
});

/** The times that are known. */
const times = <Name extends string>(
  row: Readonly<Record<Name, Date | null>>,
  names: readonly Name[],
): Partial<Record<Name, string>> =>
  Object.fromEntries(names.flatMap((name) => (row[name] ? [[name, row[name].toISOString()]] : []))) as Partial<
    Record<Name, string>
  >;
