import { type CreateMerchantDto, PaymentCurrency, PaymentRail } from '@cpg/contracts';
import { CommaSeparatedList, createLogger, newUlid, wallClock } from '@cpg/platform';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { insertMerchant, merchantByReference } from '../api/merchants/merchant-queries.ts';
import { type ApiKey, parseApiKey, Scope } from '../door/keys/api-key.ts';
import { credentialByKid, credentialsOf, issueKey, replaceSecret } from '../door/keys/credentials.ts';
import { hashSecret, verifySecret } from '../door/keys/hash.ts';
import { migrateGateway } from '../migrations.ts';

export interface SandboxOptions {
  readonly databaseUrl: string;
  /** The value of API_KEY_PEPPER. */
  readonly pepper: string;
  /** The key to use instead of a random one: `ak_sandbox_` and 32 to 128 letters and digits. */
  readonly apiKey?: string;
}

export interface SandboxMerchant {
  readonly merchantId: string;
  /** Null if the merchant already has an active key and none was given: stored keys cannot be shown again. */
  readonly apiKey: string | null;
}

/** The given key exists, but was revoked or has expired. */
export class InactiveKeyError extends Error {
  override readonly name = 'InactiveKeyError';
}

/** Creates the demo merchant of a sandbox, which accepts every currency on every rail, and a key with all scopes.
 *  Idempotent. Migrates the schema `gateway` first. Throws RangeError if the given key has the wrong form or belongs to
 *  another merchant, and InactiveKeyError if it was revoked or has expired. */
export const ensureSandboxMerchant = async ({
  databaseUrl,
  pepper,
  apiKey,
}: SandboxOptions): Promise<SandboxMerchant> => {
  const key = apiKey === undefined ? undefined : parseSandboxKey(apiKey);
  const peppers = CommaSeparatedList.parse(pepper);
  const log = createLogger({ name: 'sandbox', level: 'warn' });
  const pool = createPool({ url: databaseUrl, name: 'sandbox', max: 1, log });
  try {
    await migrateGateway(pool, 'sandbox');
    const merchantId = await ensureDemoMerchant(pool);
    if (!key && (await credentialsOf(pool, merchantId)).some(({ status }) => status === 'active')) {
      return { merchantId, apiKey: null };
    }
    if (key && (await reuseStoredKey(pool, merchantId, key, peppers))) return { merchantId, apiKey: key.text };
    const spec = { merchantId, scopes: Scope.options, environment: 'sandbox' } as const;
    const { text } = await issueKey(pool, spec, { pepper: peppers[0]!, at: wallClock(), ...(key && { key }) });
    return { merchantId, apiKey: text };
  } finally {
    await pool.end();
  }
};

const parseSandboxKey = (text: string): ApiKey => {
  const key = parseApiKey(text);
  if (key?.environment !== 'sandbox') {
    throw new RangeError('a sandbox key must be ak_sandbox_ and 32 to 128 letters and digits');
  }
  return key;
};

const ensureDemoMerchant = async (pool: Pool): Promise<string> => {
  const id = `mer_${newUlid()}`;
  if (await insertMerchant(pool, id, DEMO, wallClock())) return id;
  const stored = await merchantByReference(pool, DEMO.external_reference_id);
  if (!stored) throw new Error('the demo merchant does not exist');
  return stored.resource.id;
};

/** Returns false if no stored key has this kid. Otherwise makes sure that its secret is the given one. */
const reuseStoredKey = async (
  pool: Pool,
  merchantId: string,
  key: ApiKey,
  peppers: readonly string[],
): Promise<boolean> => {
  const stored = await credentialByKid(pool, key.kid);
  if (!stored) return false;
  if (stored.merchant_id !== merchantId)
    throw new RangeError('another merchant has a key with the same first 12 characters');
  if (stored.status === 'revoked' || (stored.expires_at !== null && stored.expires_at <= wallClock())) {
    throw new InactiveKeyError('SANDBOX_API_KEY was revoked or has expired: set another one, or none');
  }
  if ((await verifySecret(key.secret, stored, peppers)) === 'invalid') {
    await replaceSecret(
      pool,
      key.kid,
      { ...(await hashSecret(key.secret, peppers[0]!)), last4: key.text.slice(-4) },
      wallClock(),
    );
  }
  return true;
};

const DEMO: CreateMerchantDto = {
  type: 'business',
  external_reference_id: 'sandbox-demo',
  business_profile: { business_name: 'Demo shop', contact_email: 'demo@shop.example' },
  payment_methods: PaymentRail.options.map((type) => ({
    type,
    supported_currencies: PaymentCurrency.options,
    deposit_instructions: {},
  })),
  metadata: {},
};
