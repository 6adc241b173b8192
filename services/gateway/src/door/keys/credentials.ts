import type { PaymentMethod } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { type ApiKey, type KeyEnvironment, makeApiKey, type Scope } from './api-key.ts';
import { hashSecret, type KeyAlgorithm, type SecretHash } from './hash.ts';
import type { KeyUse } from './last-used.ts';

/** The stored record of an API key. The key itself is not stored. */
export interface Credential {
  readonly id: string;
  readonly merchant_id: string;
  readonly kid: string;
  readonly status: 'active' | 'revoked';
  readonly scopes: Scope[];
  readonly secret_hash: string;
  readonly salt: string;
  readonly alg: KeyAlgorithm;
  readonly pepper_id: string | null;
  readonly last4: string;
  readonly label: string | null;
  readonly version: number;
  readonly environment: KeyEnvironment;
  readonly allowed_ips: string[];
  readonly created_at: Date;
  readonly updated_at: Date | null;
  readonly last_used_at: Date | null;
  readonly last_used_from: string | null;
  readonly rotated_at: Date | null;
  readonly revoked_at: Date | null;
  readonly expires_at: Date | null;
}

/** A credential with the fields of its merchant that every request needs. */
export type CredentialWithMerchant = Credential & {
  readonly payment_methods: PaymentMethod[];
  readonly merchant_disabled_at: Date | null;
};

export const credentialsByKids = async (db: Queryable, kids: readonly string[]): Promise<CredentialWithMerchant[]> => {
  const { rows } = await db.query<CredentialWithMerchant>(
    `select k.*, m.payment_methods, m.disabled_at as merchant_disabled_at
       from gateway.api_keys k join gateway.merchants m on m.id = k.merchant_id
      where k.kid = any($1)`,
    [kids],
  );
  return rows;
};

export const credentialByKid = async (db: Queryable, kid: string): Promise<CredentialWithMerchant | null> =>
  (await credentialsByKids(db, [kid]))[0] ?? null;

/** A key of the merchant. */
export const credentialById = async (db: Queryable, merchantId: string, id: string): Promise<Credential | null> => {
  const { rows } = await db.query<Credential>('select * from gateway.api_keys where id = $1 and merchant_id = $2', [
    id,
    merchantId,
  ]);
  return rows[0] ?? null;
};

/** How many keys of the merchant work at `at`. */
export const countActiveKeys = async (db: Queryable, merchantId: string, at: Date): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from gateway.api_keys
      where merchant_id = $1 and status = 'active' and (expires_at is null or expires_at > $2)`,
    [merchantId, at],
  );
  return rows[0]!.count;
};

/** How many keys of the merchant expire in a range of time and have no successor. */
export const countExpiringKeys = async (
  db: Queryable,
  merchantId: string,
  { after, before }: { readonly after: Date; readonly before: Date },
): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from gateway.api_keys
      where merchant_id = $1 and status = 'active' and rotated_at is null and expires_at > $2 and expires_at <= $3`,
    [merchantId, after, before],
  );
  return rows[0]!.count;
};

/** Whether a key works, and if not, why. */
export const keyStatusAt = (
  { status, expires_at: end }: Pick<Credential, 'status' | 'expires_at'>,
  at: Date,
): 'active' | 'expired' | 'revoked' => (status === 'active' && end !== null && end <= at ? 'expired' : status);

/** Locks the key's row until the transaction ends. */
export const lockCredential = async (db: Queryable, kid: string): Promise<void> => {
  await db.query('select from gateway.api_keys where kid = $1 for update', [kid]);
};

export const credentialsOf = async (db: Queryable, merchantId: string): Promise<Credential[]> => {
  const { rows } = await db.query<Credential>(
    'select * from gateway.api_keys where merchant_id = $1 order by created_at, id',
    [merchantId],
  );
  return rows;
};

type NewCredential = Omit<
  Credential,
  'status' | 'updated_at' | 'last_used_at' | 'last_used_from' | 'rotated_at' | 'revoked_at'
>;

const insertCredential = async (db: Queryable, key: NewCredential): Promise<void> => {
  await db.query(
    `insert into gateway.api_keys
       (id, merchant_id, kid, scopes, secret_hash, salt, alg, last4, version, environment, allowed_ips, created_at, expires_at, pepper_id, label)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      key.id,
      key.merchant_id,
      key.kid,
      key.scopes,
      key.secret_hash,
      key.salt,
      key.alg,
      key.last4,
      key.version,
      key.environment,
      key.allowed_ips,
      key.created_at,
      key.expires_at,
      key.pepper_id,
      key.label,
    ],
  );
};

/** Changes what a key may do, and its label. Absent fields stay; null removes the label. */
export const updateCredential = async (
  db: Queryable,
  kid: string,
  { scopes, allowedIps, label }: CredentialChanges,
  at: Date,
): Promise<void> => {
  await db.query(
    `update gateway.api_keys set updated_at = $2, scopes = coalesce($3, scopes), allowed_ips = coalesce($4, allowed_ips),
       label = case when $5 then $6 else label end where kid = $1`,
    [kid, at, scopes ?? null, allowedIps ?? null, label !== undefined, label ?? null],
  );
};

/** Marks the key as rotated. It stays valid until `until`, or until its own expiry if that is earlier. */
export const retireCredential = async (db: Queryable, kid: string, at: Date, until: Date): Promise<void> => {
  await db.query(
    `update gateway.api_keys set rotated_at = $2, updated_at = $2, expires_at = least(expires_at, $3) where kid = $1`,
    [kid, at, until],
  );
};

/** Returns false when no active key has this kid. */
export const revokeCredential = async (db: Queryable, kid: string, at: Date): Promise<boolean> => {
  const { rowCount } = await db.query(
    `update gateway.api_keys set status = 'revoked', revoked_at = $2, updated_at = $2 where kid = $1 and status = 'active'`,
    [kid, at],
  );
  return rowCount === 1;
};

/** Replaces the secret of a key. */
export const replaceSecret = async (
  db: Queryable,
  kid: string,
  { alg, salt, secret_hash, pepper_id, last4 }: SecretHash & Pick<Credential, 'last4'>,
  at: Date,
): Promise<void> => {
  await db.query(
    `update gateway.api_keys set alg = $2, salt = $3, secret_hash = $4, last4 = $5, updated_at = $6, pepper_id = $7 where kid = $1`,
    [kid, alg, salt, secret_hash, last4, at, pepper_id],
  );
};

/** Replaces the hash of a key's secret by another hash of the same secret, unless it has changed meanwhile. */
export const replaceHash = async (db: Queryable, kid: string, old: SecretHash, fresh: SecretHash): Promise<void> => {
  await db.query(
    `update gateway.api_keys set salt = $3, secret_hash = $4, pepper_id = $5
      where kid = $1 and secret_hash = $2 and alg = $6`,
    [kid, old.secret_hash, fresh.salt, fresh.secret_hash, fresh.pepper_id, fresh.alg],
  );
};

/** How many active keys are hashed with a pepper, and how many of them with another one than `pepper`. */
export const countHashes = async (db: Queryable, pepper: string): Promise<{ all: number; outdated: number }> => {
  const { rows } = await db.query<{ all: number; outdated: number }>(
    `select count(*)::int as all, (count(*) filter (where pepper_id is distinct from $1))::int as outdated
       from gateway.api_keys
      where status = 'active' and alg = 'HMAC-SHA256' and (expires_at is null or expires_at > now())`,
    [pepper],
  );
  return rows[0]!;
};

/** Stores when and from where keys were last used, in one statement. Never replaces a later use by an earlier one. */
export const updateLastUsed = async (db: Queryable, uses: ReadonlyMap<string, KeyUse>): Promise<void> => {
  await db.query(
    `with used as materialized (
       select kid, at, address
         from gateway.api_keys join unnest($1::text[], $2::timestamptz[], $3::text[]) as used (kid, at, address) using (kid)
       order by kid for update of api_keys)
     update gateway.api_keys k set last_used_at = used.at, last_used_from = used.address
       from used where k.kid = used.kid and (k.last_used_at is null or k.last_used_at <= used.at)`,
    [[...uses.keys()], [...uses.values()].map(({ at }) => at), [...uses.values()].map(({ address }) => address)],
  );
};

/** The permissions and limits of a new key. Null or absent limits mean none. */
export interface KeySpec {
  readonly merchantId: string;
  readonly scopes: Credential['scopes'];
  readonly environment: Credential['environment'];
  readonly allowedIps?: readonly string[];
  readonly expiresAt?: Date | null;
  readonly version?: number;
  readonly label?: string | null | undefined;
}

/** Stores the hash of a new key, or of the given `key`, under a new id, or the given `id`. The key itself is never stored:
 *  only the caller has it. */
export const issueKey = async (
  db: Queryable,
  spec: KeySpec,
  {
    pepper,
    at,
    id = `key_${newUlid()}`,
    key = makeApiKey(spec.environment),
    alg,
  }: { pepper: string; at: Date; id?: string | undefined; key?: ApiKey; alg?: KeyAlgorithm },
): Promise<ApiKey> => {
  await insertCredential(db, {
    id,
    merchant_id: spec.merchantId,
    kid: key.kid,
    scopes: spec.scopes,
    ...(await hashSecret(key.secret, pepper, alg)),
    last4: key.text.slice(-4),
    label: spec.label ?? null,
    version: spec.version ?? 1,
    environment: spec.environment,
    allowed_ips: [...(spec.allowedIps ?? [])],
    created_at: at,
    expires_at: spec.expiresAt ?? null,
  });
  return key;
};

/** What can be changed of a key. */
export type CredentialChanges = Partial<Pick<KeySpec, 'scopes' | 'allowedIps' | 'label'>>;

interface CredentialLoaderOptions {
  readonly load: (kids: readonly string[]) => Promise<readonly CredentialWithMerchant[]>;
  readonly maxConcurrent?: number;
  readonly maxBatch?: number;
}

interface Waiting {
  readonly kid: string;
  readonly resolve: (credential: CredentialWithMerchant | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Loads credentials by key id. Calls that arrive while `maxConcurrent` queries run share the next one, so unknown keys
 *  from any number of addresses cost a bounded number of queries. */
export const createCredentialLoader = (options: CredentialLoaderOptions) => {
  const { load, maxConcurrent = 2, maxBatch = 500 } = options;
  let waiting: Waiting[] = [];
  let running = 0;

  const loadNext = async (): Promise<void> => {
    const batch = waiting.slice(0, maxBatch);
    waiting = waiting.slice(maxBatch);
    running += 1;
    try {
      const found = new Map(
        (await load([...new Set(batch.map(({ kid }) => kid))])).map((credential) => [credential.kid, credential]),
      );
      for (const { kid, resolve } of batch) resolve(found.get(kid) ?? null);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      startNext();
    }
  };
  const startNext = () => {
    if (waiting.length > 0 && running < maxConcurrent) void loadNext();
  };
  return (kid: string): Promise<CredentialWithMerchant | null> =>
    new Promise((resolve, reject) => {
      waiting.push({ kid, resolve, reject });
      startNext();
    });
};
