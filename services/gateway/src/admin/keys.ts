import { type Pool, transaction } from '@cpg/postgres';
import { isAddressOrCidr } from '@cpg/runtime';
import type { ApiKey, KeyEnvironment } from '../keys/api-key.ts';
import { issueKey } from '../keys/issue.ts';
import { Scope } from '../keys/scopes.ts';
import {
  type Credential,
  credentialByKid,
  credentialsOf,
  lockCredential,
  retireCredential,
  revokeCredential,
} from '../queries/credentials.ts';
import { merchantById } from '../queries/merchants.ts';
import { AdminFault } from './fault.ts';
import { table } from './table.ts';

export interface KeyAdmin {
  readonly pool: Pool;
  readonly pepper: string;
  readonly environment: KeyEnvironment;
  readonly now: () => Date;
}

/** What the new key may do: scopes and addresses as comma-separated lists, `all` for every scope. */
export interface KeyWish {
  readonly merchantId: string;
  readonly scopes: string;
  readonly allowedIps?: string | undefined;
  readonly expires?: string | undefined;
}

export const createKey = async (
  { pool, pepper, environment, now }: KeyAdmin,
  { merchantId, scopes, allowedIps, expires }: KeyWish,
): Promise<ApiKey> => {
  if (!(await merchantById(pool, merchantId))) throw new AdminFault(`there is no merchant ${merchantId}`);
  const grant = {
    merchantId,
    scopes: scopesIn(scopes),
    environment,
    allowedIps: addressesIn(allowedIps),
    expiresAt: expires === undefined ? null : futureInstant(expires, now()),
  };
  return issueKey(pool, grant, { pepper, at: now() });
};

/** Makes a key that may do what the old one may, and as long as that might have; the old one works on for `overlapMs`. */
export const rotateKey = (
  { pool, pepper, now }: KeyAdmin,
  { kid, overlapMs }: { kid: string; overlapMs: number },
): Promise<ApiKey> =>
  transaction(pool, async (db) => {
    await lockCredential(db, kid);
    const old = await credentialByKid(db, kid);
    const at = now();
    if (!old) throw new AdminFault(`there is no key ${kid}`);
    if (old.status === 'revoked') throw new AdminFault(`key ${kid} is revoked: create a new one`);
    // Its expiry is the end of the overlap by now, and not one for a successor.
    if (old.rotated_at) throw new AdminFault(`key ${kid} was rotated already: rotate the one that took its place`);
    if (stateOf(old, at) === 'expired') throw new AdminFault(`key ${kid} has expired: create a new one`);
    await retireCredential(db, kid, at, new Date(at.getTime() + overlapMs));
    const grant = {
      merchantId: old.merchant_id,
      scopes: old.scopes,
      environment: old.environment,
      allowedIps: old.allowed_ips,
      expiresAt: old.expires_at,
      version: old.version + 1,
    };
    return issueKey(db, grant, { pepper, at });
  });

export const revokeKey = async ({ pool, now }: KeyAdmin, kid: string): Promise<void> => {
  if (await revokeCredential(pool, kid, now())) return;
  throw new AdminFault((await credentialByKid(pool, kid)) ? `key ${kid} is revoked already` : `there is no key ${kid}`);
};

export const showKeys = async ({ pool, now }: KeyAdmin, merchantId: string): Promise<string> => {
  if (!(await merchantById(pool, merchantId))) throw new AdminFault(`there is no merchant ${merchantId}`);
  const keys = await credentialsOf(pool, merchantId);
  if (keys.length === 0) return `merchant ${merchantId} has no keys: make one with \`keys create\``;
  return table(
    ['KID', 'ENDS IN', 'STATUS', 'VERSION', 'CREATED', 'LAST USED', 'EXPIRES', 'FROM', 'SCOPES'],
    keys.map((key) => [
      key.kid,
      key.last4,
      stateOf(key, now()),
      String(key.version),
      key.created_at.toISOString(),
      key.last_used_at?.toISOString() ?? 'never',
      key.expires_at?.toISOString() ?? 'never',
      key.allowed_ips.join(',') || 'anywhere',
      key.scopes.join(','),
    ]),
  );
};

/** A span like `30m`, `24h` or `7d`, in milliseconds. */
export const spanIn = (text: string): number => {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (!count || !unit) throw new AdminFault(`${text} is not a span: write it like 30m, 24h or 7d`);
  return Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 'm' | 'h' | 'd'];
};

const stateOf = (key: Credential, now: Date): string =>
  key.status === 'active' && key.expires_at !== null && key.expires_at <= now ? 'expired' : key.status;

const listIn = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const scopesIn = (text: string): Scope[] => {
  if (text === 'all') return [...Scope.options];
  const scopes = [...new Set(listIn(text))];
  const unknown = scopes.filter((scope) => !Scope.safeParse(scope).success);
  if (unknown.length > 0 || scopes.length === 0) {
    throw new AdminFault(
      `no such scope: ${unknown.join(', ') || '(none given)'}\nthere are: ${Scope.options.join(', ')}`,
    );
  }
  return scopes as Scope[];
};

const addressesIn = (text: string | undefined): string[] => {
  const addresses = listIn(text ?? '');
  const wrong = addresses.filter((address) => !isAddressOrCidr(address));
  if (wrong.length > 0) throw new AdminFault(`not an IP address or CIDR block: ${wrong.join(', ')}`);
  return addresses;
};

const futureInstant = (text: string, now: Date): Date => {
  const instant = /(Z|[+-]\d\d:\d\d)$/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(instant.getTime())) {
    throw new AdminFault(`${text} is not an instant: write it like 2027-01-31T12:00:00Z`);
  }
  if (instant <= now) throw new AdminFault(`${text} is past`);
  return instant;
};
