import { isAddressOrCidr } from '@cpg/platform';
import { type Pool, transaction } from '@cpg/platform/postgres';
import { merchantById } from '../api/merchants/merchant-queries.ts';
import { type ApiKey, type KeyEnvironment, Scope } from '../door/keys/api-key.ts';
import {
  type Credential,
  credentialByKid,
  credentialsOf,
  issueKey,
  lockCredential,
  retireCredential,
  revokeCredential,
} from '../door/keys/credentials.ts';
import { AdminError, parseInstant, table } from './command.ts';

export interface KeyAdmin {
  readonly pool: Pool;
  readonly pepper: string;
  readonly environment: KeyEnvironment;
  readonly now: () => Date;
}

/** The arguments of `keys create`, as typed. Scopes and addresses are comma-separated lists; `all` means every
 *  scope. */
export interface CreateKeyArguments {
  readonly merchantId: string;
  readonly scopes: string;
  readonly allowedIps?: string | undefined;
  readonly expires?: string | undefined;
}

export const createKey = async (
  { pool, pepper, environment, now }: KeyAdmin,
  { merchantId, scopes, allowedIps, expires }: CreateKeyArguments,
): Promise<ApiKey> => {
  if (!(await merchantById(pool, merchantId))) throw new AdminError(`there is no merchant ${merchantId}`);
  const spec = {
    merchantId,
    scopes: parseScopes(scopes),
    environment,
    allowedIps: parseAddresses(allowedIps),
    expiresAt: expires === undefined ? null : parseFutureTime(expires, now()),
  };
  return issueKey(pool, spec, { pepper, at: now() });
};

/** Creates a successor with the same permissions and expiry. The old key stays valid for `overlapMs`, or until its own
 *  expiry if that is earlier. */
export const rotateKey = (
  { pool, pepper, now }: KeyAdmin,
  { kid, overlapMs }: { kid: string; overlapMs: number },
): Promise<ApiKey> =>
  transaction(pool, async (db) => {
    await lockCredential(db, kid);
    const old = await credentialByKid(db, kid);
    const at = now();
    if (!old) throw new AdminError(`there is no key ${kid}`);
    if (old.status === 'revoked') throw new AdminError(`key ${kid} is revoked: create a new one`);
    // The expiry of a rotated key is the end of its overlap: a successor must not inherit it.
    if (old.rotated_at) throw new AdminError(`key ${kid} was already rotated: rotate its successor`);
    if (statusAt(old, at) === 'expired') throw new AdminError(`key ${kid} has expired: create a new one`);
    await retireCredential(db, kid, at, new Date(at.getTime() + overlapMs));
    const spec = {
      merchantId: old.merchant_id,
      scopes: old.scopes,
      environment: old.environment,
      allowedIps: old.allowed_ips,
      expiresAt: old.expires_at,
      version: old.version + 1,
    };
    return issueKey(db, spec, { pepper, at });
  });

export const revokeKey = async ({ pool, now }: KeyAdmin, kid: string): Promise<void> => {
  if (await revokeCredential(pool, kid, now())) return;
  throw new AdminError((await credentialByKid(pool, kid)) ? `key ${kid} is already revoked` : `there is no key ${kid}`);
};

export const keyTable = async ({ pool, now }: KeyAdmin, merchantId: string): Promise<string> => {
  if (!(await merchantById(pool, merchantId))) throw new AdminError(`there is no merchant ${merchantId}`);
  const keys = await credentialsOf(pool, merchantId);
  if (keys.length === 0) return `merchant ${merchantId} has no keys: create one with \`keys create\``;
  return table(
    ['KID', 'ENDS IN', 'STATUS', 'VERSION', 'CREATED', 'LAST USED', 'EXPIRES', 'FROM', 'SCOPES'],
    keys.map((key) => [
      key.kid,
      key.last4,
      statusAt(key, now()),
      String(key.version),
      key.created_at.toISOString(),
      key.last_used_at?.toISOString() ?? 'never',
      key.expires_at?.toISOString() ?? 'never',
      key.allowed_ips.join(',') || 'anywhere',
      key.scopes.join(','),
    ]),
  );
};

/** Parses a duration like `30m`, `24h` or `7d` to milliseconds. */
export const parseDuration = (text: string): number => {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (!count || !unit) throw new AdminError(`${text} is not a duration: expected for example 30m, 24h or 7d`);
  return Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 'm' | 'h' | 'd'];
};

const statusAt = (key: Credential, now: Date): string =>
  key.status === 'active' && key.expires_at !== null && key.expires_at <= now ? 'expired' : key.status;

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const parseScopes = (text: string): Scope[] => {
  if (text === 'all') return [...Scope.options];
  const scopes = [...new Set(splitList(text))];
  const unknown = scopes.filter((scope) => !Scope.safeParse(scope).success);
  if (unknown.length > 0 || scopes.length === 0) {
    throw new AdminError(
      `unknown scope: ${unknown.join(', ') || '(none given)'}\nvalid scopes: ${Scope.options.join(', ')}`,
    );
  }
  return scopes as Scope[];
};

const parseAddresses = (text: string | undefined): string[] => {
  if (text === undefined) return [];
  const addresses = splitList(text);
  // A key without addresses is valid from anywhere.
  if (addresses.length === 0) throw new AdminError('--allow-ip needs at least one IP address or CIDR block');
  const wrong = addresses.filter((address) => !isAddressOrCidr(address));
  if (wrong.length > 0) throw new AdminError(`not an IP address or CIDR block: ${wrong.join(', ')}`);
  return addresses;
};

const parseFutureTime = (text: string, now: Date): Date => {
  const time = parseInstant(text);
  if (time <= now) throw new AdminError(`${text} is in the past`);
  return time;
};
