import type { Queryable } from '@cpg/postgres';
import { type Credential, insertCredential } from '../queries/credentials.ts';
import { newSeed } from '../seed.ts';
import { type ApiKey, makeApiKey } from './api-key.ts';
import { hashSecret, type KeyAlgorithm } from './hash.ts';

/** What a key may do, and where and how long it is good. */
export interface KeyGrant {
  readonly merchantId: string;
  readonly scopes: Credential['scopes'];
  readonly environment: Credential['environment'];
  readonly allowedIps?: readonly string[];
  readonly expiresAt?: Date | null;
  readonly version?: number;
}

/** Makes a key and keeps its hash. The key itself is in the answer only: it is never kept. `key` makes a given one instead. */
export const issueKey = async (
  db: Queryable,
  grant: KeyGrant,
  {
    pepper,
    at,
    key = makeApiKey(grant.environment),
    alg,
  }: { pepper: string; at: Date; key?: ApiKey; alg?: KeyAlgorithm },
): Promise<ApiKey> => {
  await insertCredential(db, {
    id: `key_${newSeed()}`,
    merchant_id: grant.merchantId,
    kid: key.kid,
    scopes: grant.scopes,
    ...(await hashSecret(key.secret, pepper, alg)),
    last4: key.text.slice(-4),
    version: grant.version ?? 1,
    environment: grant.environment,
    allowed_ips: [...(grant.allowedIps ?? [])],
    created_at: at,
    expires_at: grant.expiresAt ?? null,
  });
  return key;
};
