import type { Queryable } from '@cpg/platform/postgres';
import { newUlid } from '@cpg/platform';
import { type Credential, insertCredential } from './credentials.ts';
import { type ApiKey, makeApiKey } from './api-key.ts';
import { hashSecret, type KeyAlgorithm } from './hash.ts';

/** The permissions and limits of a new key. Null or absent limits mean none. */
export interface KeySpec {
  readonly merchantId: string;
  readonly scopes: Credential['scopes'];
  readonly environment: Credential['environment'];
  readonly allowedIps?: readonly string[];
  readonly expiresAt?: Date | null;
  readonly version?: number;
}

/** Generates a key, or takes the given `key`, and stores its hash. The key itself is never stored: only the caller has
 *  it. */
export const issueKey = async (
  db: Queryable,
  spec: KeySpec,
  {
    pepper,
    at,
    key = makeApiKey(spec.environment),
    alg,
  }: { pepper: string; at: Date; key?: ApiKey; alg?: KeyAlgorithm },
): Promise<ApiKey> => {
  await insertCredential(db, {
    id: `key_${newUlid()}`,
    merchant_id: spec.merchantId,
    kid: key.kid,
    scopes: spec.scopes,
    ...(await hashSecret(key.secret, pepper, alg)),
    last4: key.text.slice(-4),
    version: spec.version ?? 1,
    environment: spec.environment,
    allowed_ips: [...(spec.allowedIps ?? [])],
    created_at: at,
    expires_at: spec.expiresAt ?? null,
  });
  return key;
};
