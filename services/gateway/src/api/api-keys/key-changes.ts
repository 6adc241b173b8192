import { AppError } from '@cpg/contracts';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import { type ApiKey, makeApiKey } from '../../door/keys/api-key.ts';
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
  updateCredential,
} from '../../door/keys/credentials.ts';
import { hashSecret } from '../../door/keys/hash.ts';
import { lockMerchant } from '../merchants/merchant-queries.ts';
import type { Permissions } from './permissions.ts';

export const MAX_ACTIVE_KEYS = 50;

interface Making {
  /** Hashes the secret. */
  readonly pepper: string;
  readonly at: Date;
}

/** Creates the key `id`. A repeat makes a new secret for it, because the first one was not stored. */
export const createKey = (pool: Pool, spec: KeySpec, { id, ...making }: Making & { id: string }): Promise<ApiKey> =>
  transaction(pool, async (db) => {
    await lockMerchant(db, spec.merchantId);
    const known = await credentialById(db, spec.merchantId, id);
    if (known) return renewSecret(db, known, making);
    if ((await countActiveKeys(db, spec.merchantId, making.at)) >= MAX_ACTIVE_KEYS)
      throw new AppError('too_many_api_keys', `a merchant can have ${MAX_ACTIVE_KEYS} active keys: revoke one first`);
    return issueKey(db, spec, { id, ...making });
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
    const { id, overlapMs, permit, ...making } = rotation;
    const old = await lockedKey(db, kid);
    const successor = id === undefined ? null : await credentialById(db, old.merchant_id, id);
    if (successor) return renewSecret(db, successor, making);
    refuseRevoked(old);
    // The expiry of a rotated key is the end of its overlap: a successor must not inherit it.
    if (old.rotated_at) throw inactive(`key ${kid} was already rotated: rotate its successor`);
    if (keyStatusAt(old, making.at) === 'expired') throw inactive(`key ${kid} has expired: create a new one`);
    permit?.(old);
    await retireCredential(db, kid, making.at, new Date(making.at.getTime() + overlapMs));
    const spec = {
      merchantId: old.merchant_id,
      scopes: old.scopes,
      environment: old.environment,
      allowedIps: old.allowed_ips,
      expiresAt: old.expires_at,
      label: old.label,
      version: old.version + 1,
    };
    return issueKey(db, spec, { id, ...making });
  });

export interface KeyUpdate {
  readonly at: Date;
  /** Throws if the key must not become what it would be. */
  readonly permit?: (key: Permissions) => void;
}

/** Changes a key, and returns it. Throws `api_key_inactive` for a revoked one. */
export const updateKey = (
  pool: Pool,
  kid: string,
  changes: CredentialChanges,
  { at, permit }: KeyUpdate,
): Promise<Credential> =>
  transaction(pool, async (db) => {
    refuseRevoked(await lockedKey(db, kid));
    await updateCredential(db, kid, changes, at);
    const changed = (await credentialByKid(db, kid))!;
    permit?.(changed);
    return changed;
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

const renewSecret = async (db: Queryable, key: Credential, { pepper, at }: Making): Promise<ApiKey> => {
  refuseRevoked(key);
  const fresh = makeApiKey(key.environment, key.kid);
  const hash = await hashSecret(fresh.secret, pepper);
  await replaceSecret(db, key.kid, { ...hash, last4: fresh.text.slice(-4) }, at);
  return fresh;
};
