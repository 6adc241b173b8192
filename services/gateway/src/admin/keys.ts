import { isAddressOrCidr } from '@cpg/platform';
import { CommandError } from '@cpg/platform/commands';
import { type Pool, transaction } from '@cpg/platform/postgres';
import { issueRecordedKey, revokeKey as endKey, updateKey as changeKey } from '../api/api-keys/key-changes.ts';
import { byOperator } from '../audit/record-change.ts';
import { type ApiKey, type KeyEnvironment, parseApiKey, Scope } from '../door/keys/api-key.ts';
import { type Credential, credentialByKid, credentialsOf, keyStatusAt } from '../door/keys/credentials.ts';
import { findMerchant, parseInstant, table } from './command.ts';

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
  readonly allowIp?: string | undefined;
  readonly expires?: string | undefined;
  readonly label?: string | undefined;
}

export const createKey = async (
  { pool, pepper, environment, now }: KeyAdmin,
  { merchantId, scopes, allowIp, expires, label }: CreateKeyArguments,
): Promise<ApiKey> => {
  await findMerchant(pool, merchantId);
  const spec = {
    merchantId,
    scopes: parseScopes(scopes),
    environment,
    allowedIps: allowIp === undefined ? [] : parseAddresses(allowIp),
    label: label === undefined ? null : parseLabel(label),
    expiresAt: expires === undefined ? null : parseFutureTime(expires, now()),
  };
  return transaction(pool, (db) => issueRecordedKey(db, spec, { pepper, change: byOperator(now()) }));
};

/** The changes of `keys update`, as typed. */
export interface KeyChanges {
  readonly scopes?: string;
  readonly allowIp?: string;
  readonly label?: string;
}

/** Returns what the key may do now. */
export const updateKey = (
  { pool, now }: KeyAdmin,
  kid: string,
  { scopes, allowIp, label }: KeyChanges,
): Promise<Credential> => {
  if (scopes === undefined && allowIp === undefined && label === undefined)
    throw new CommandError('nothing to change: give --scopes, --allow-ip or --label');
  const changes = {
    ...(scopes !== undefined && { scopes: parseScopes(scopes) }),
    ...(allowIp !== undefined && { allowedIps: allowIp === ANYWHERE ? [] : parseAddresses(allowIp) }),
    ...(label !== undefined && { label: parseLabel(label) }),
  };
  return changeKey(pool, kid, changes, { change: byOperator(now()) });
};

/** An IP list that allows every address. */
const ANYWHERE = 'anywhere';

/** The kid of a key, which may be given as a whole: nobody has to cut a leaked key to revoke it. */
export const kidIn = (text: string): string => parseApiKey(text)?.kid ?? text;

export const revokeKey = async ({ pool, now }: KeyAdmin, kid: string): Promise<void> => {
  if (await endKey(pool, kid, byOperator(now()))) return;
  throw new CommandError(
    (await credentialByKid(pool, kid)) ? `key ${kid} is already revoked` : `there is no key ${kid}`,
  );
};

export const keyTable = async ({ pool, now }: KeyAdmin, merchantId: string): Promise<string> => {
  await findMerchant(pool, merchantId);
  const keys = await credentialsOf(pool, merchantId);
  if (keys.length === 0) return `merchant ${merchantId} has no keys: create one with \`keys create\``;
  return table(
    ['KID', 'LABEL', 'ENDS IN', 'STATUS', 'VERSION', 'CREATED', 'LAST USED', 'EXPIRES', 'FROM', 'SCOPES'],
    keys.map((key) => [
      key.kid,
      key.label ?? '',
      key.last4,
      keyStatusAt(key, now()),
      String(key.version),
      key.created_at.toISOString(),
      key.last_used_at?.toISOString() ?? 'never',
      key.expires_at?.toISOString() ?? 'never',
      key.allowed_ips.join(',') || ANYWHERE,
      key.scopes.join(','),
    ]),
  );
};

/** Parses a duration like `30m`, `24h` or `7d` to milliseconds. */
export const parseDuration = (text: string): number => {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (!count || !unit) throw new CommandError(`--overlap: ${text} is not a duration: write it like 30m, 24h or 7d`);
  return Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 'm' | 'h' | 'd'];
};

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
    throw new CommandError(
      `--scopes: ${unknown.length > 0 ? `there is no scope ${unknown.join(', ')}` : 'no scope is given'}. The scopes are:\n${Scope.options.map((scope) => `  ${scope}`).join('\n')}`,
    );
  }
  return scopes as Scope[];
};

const parseAddresses = (text: string): string[] => {
  const addresses = splitList(text);
  // A key without addresses is valid from anywhere.
  if (addresses.length === 0)
    throw new CommandError('--allow-ip needs at least one IP address or CIDR block, such as 203.0.113.0/24');
  const wrong = addresses.filter((address) => !isAddressOrCidr(address));
  if (wrong.length > 0) throw new CommandError(`--allow-ip: not an IP address or CIDR block: ${wrong.join(', ')}`);
  return addresses;
};

const LONGEST_LABEL = 100;

const parseLabel = (text: string): string => {
  const label = text.trim();
  if (label === '' || label.length > LONGEST_LABEL)
    throw new CommandError(`--label must have 1 to ${LONGEST_LABEL} characters`);
  return label;
};

const parseFutureTime = (text: string, now: Date): Date => {
  const time = parseInstant('--expires', text);
  if (time <= now) throw new CommandError(`--expires: ${text} is in the past`);
  return time;
};
