import { AppError } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import { type Change, changedFields, recordChange, recordIfChanged } from '../../audit/record-change.ts';
import { type ApiKey, makeApiKey, startOfKeys } from '../../door/keys/api-key.ts';
import {
  countActiveKeys,
  type Credential,
  type CredentialChanges,
  credentialById,
  credentialByKid,
  issueKey,
  type KeySpec,
  keyStatusAt,
  lockCredential,
  replaceSecret,
  retireCredential,
  revokeCredential,
  updateCredential,
} from '../../door/keys/credentials.ts';
import { hashSecret } from '../../door/keys/hash.ts';
import { lockMerchant } from '../merchants/merchant-queries.ts';
import type { Permissions } from './permissions.ts';

export const MAX_ACTIVE_KEYS = 50;

interface Making {
  /** Hashes the secret. */
  readonly pepper: string;
  readonly change: Change;
}

/** Stores a new key, or the given one, and records it. */
export const issueRecordedKey = async (
  db: Queryable,
  spec: KeySpec,
  { id = newId('apiKey'), key, pepper, change }: Making & { readonly id?: string | undefined; readonly key?: ApiKey },
): Promise<ApiKey> => {
  const issued = await issueKey(db, spec, { id, pepper, at: change.at, ...(key && { key }) });
  const { merchantId, label, scopes, allowedIps = [], expiresAt } = spec;
  const shown = {
    prefix: `${startOfKeys(spec.environment)}${issued.kid}`,
    label,
    scopes,
    allowed_ips: allowedIps,
    expires_at: expiresAt?.toISOString(),
  };
  const changes = changedFields(null, shown, ['prefix', 'label', 'scopes', 'allowed_ips', 'expires_at']);
  await recordChange(db, { type: 'ApiKeyCreated', merchantId, subject: id, changes }, change);
  return issued;
};

/** Creates the key `id`. A repeat makes a new secret for it, because the first one was not stored. */
export const createKey = (pool: Pool, spec: KeySpec, { id, ...making }: Making & { id: string }): Promise<ApiKey> =>
  transaction(pool, async (db) => {
    await lockMerchant(db, spec.merchantId);
    const known = await credentialById(db, spec.merchantId, id);
    if (known) return renewSecret(db, known, making);
    if ((await countActiveKeys(db, spec.merchantId, making.change.at)) >= MAX_ACTIVE_KEYS)
      throw new AppError('too_many_api_keys', `a merchant can have ${MAX_ACTIVE_KEYS} active keys: revoke one first`);
    return issueRecordedKey(db, spec, { id, ...making });
  });

export interface KeyRotation extends Making {
  /** The id of the successor. A repeat makes a new secret for it. */
  readonly id?: string;
  /** How long the old key stays valid. */
  readonly overlapMs: number;
  /** Throws if the key must not be rotated. */
  readonly permit?: (key: Permissions) => void;
}

/** Creates a successor with the same permissions and expiry. The old key stays valid for `overlapMs`, or until its own
 *  expiry if that is earlier. */
export const rotateKey = (pool: Pool, kid: string, rotation: KeyRotation): Promise<ApiKey> =>
  transaction(pool, async (db) => {
    const { id: given, overlapMs, permit, ...making } = rotation;
    const { change } = making;
    const { at } = change;
    const old = await lockedKey(db, kid);
    const successor = given === undefined ? null : await credentialById(db, old.merchant_id, given);
    if (successor) return renewSecret(db, successor, making);
    refuseRevoked(old);
    // The expiry of a rotated key is the end of its overlap: a successor must not inherit it.
    if (old.rotated_at) throw inactive(`key ${kid} was already rotated: rotate its successor`);
    if (keyStatusAt(old, at) === 'expired') throw inactive(`key ${kid} has expired: create a new one`);
    permit?.(old);
    await retireCredential(db, kid, at, new Date(at.getTime() + overlapMs));
    const retired = (await credentialByKid(db, kid))!;
    const id = given ?? newId('apiKey');
    const spec = {
      merchantId: old.merchant_id,
      scopes: old.scopes,
      environment: old.environment,
      allowedIps: old.allowed_ips,
      expiresAt: old.expires_at,
      label: old.label,
      version: old.version + 1,
    };
    const successorKey = await issueRecordedKey(db, spec, { id, ...making });
    const changes = changedFields<{ successor?: string | undefined; expires_at: string | undefined }>(
      { expires_at: old.expires_at?.toISOString() },
      { successor: id, expires_at: retired.expires_at?.toISOString() },
      ['successor', 'expires_at'],
    );
    await recordChange(db, { type: 'ApiKeyRotated', merchantId: old.merchant_id, subject: old.id, changes }, change);
    return successorKey;
  });

export interface KeyUpdate {
  readonly change: Change;
  /** Throws if the key must not become what it would be. */
  readonly permit?: (key: Permissions) => void;
}

/** Changes a key, and returns it. Throws `api_key_inactive` for a revoked one. */
export const updateKey = (
  pool: Pool,
  kid: string,
  changes: CredentialChanges,
  { change, permit }: KeyUpdate,
): Promise<Credential> =>
  transaction(pool, async (db) => {
    const before = await lockedKey(db, kid);
    refuseRevoked(before);
    await updateCredential(db, kid, changes, change.at);
    const changed = (await credentialByKid(db, kid))!;
    permit?.(changed);
    const fields = changedFields<Credential>(before, changed, ['label', 'scopes', 'allowed_ips']);
    const { id: subject, merchant_id: merchantId } = changed;
    await recordIfChanged(db, { type: 'ApiKeyChanged', merchantId, subject, changes: fields }, change);
    return changed;
  });

/** Returns false when no active key has this kid. */
export const revokeKey = (pool: Pool, kid: string, change: Change): Promise<boolean> =>
  transaction(pool, async (db) => {
    if (!(await revokeCredential(db, kid, change.at))) return false;
    const { id, merchant_id: merchantId } = (await credentialByKid(db, kid))!;
    await recordChange(db, { type: 'ApiKeyRevoked', merchantId, subject: id }, change);
    return true;
  });

/** A key that is locked until the transaction ends. */
const lockedKey = async (db: Queryable, kid: string): Promise<Credential> => {
  await lockCredential(db, kid);
  const key = await credentialByKid(db, kid);
  if (!key) throw new AppError('not_found', `there is no key ${kid}`);
  return key;
};

const refuseRevoked = ({ kid, status }: Credential): void => {
  if (status === 'revoked') throw inactive(`key ${kid} is revoked: create a new one`);
};

const inactive = (message: string): AppError => new AppError('api_key_inactive', message);

const renewSecret = async (db: Queryable, key: Credential, { pepper, change }: Making): Promise<ApiKey> => {
  refuseRevoked(key);
  const fresh = makeApiKey(key.environment, key.kid);
  const hash = await hashSecret(fresh.secret, pepper);
  await replaceSecret(db, key.kid, { ...hash, last4: fresh.text.slice(-4) }, change.at);
  return fresh;
};
