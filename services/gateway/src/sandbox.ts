import { type CreateMerchantDto, PaymentCurrency, PaymentRail } from '@cpg/contracts';
import { createPool, type Pool } from '@cpg/postgres';
import { createLogger } from '@cpg/runtime';
import { type ApiKey, parseApiKey } from './keys/api-key.ts';
import { hashSecret, verifySecret } from './keys/hash.ts';
import { issueKey } from './keys/issue.ts';
import { Scope } from './keys/scopes.ts';
import { migrateGateway } from './migrations.ts';
import { credentialByKid, credentialsOf, replaceSecret } from './queries/credentials.ts';
import { insertMerchant, merchantByReference } from './queries/merchants.ts';
import { newSeed } from './seed.ts';

export interface SandboxOptions {
  readonly databaseUrl: string;
  readonly pepper: string;
  /** `ak_sandbox_` and 32 to 128 letters and digits: the key to be, instead of a random one. */
  readonly apiKey?: string;
}

export interface SandboxMerchant {
  readonly merchantId: string;
  /** Null when the merchant has a key already and none was given: a key is shown once. */
  readonly apiKey: string | null;
}

/** The key that was given is known, and good no more. */
export class EndedKeyError extends Error {
  override readonly name = 'EndedKeyError';
}

/** Makes sure that a sandbox has a demo merchant that takes every currency on every rail, with a key of all scopes. Can be repeated.
 *  Migrates the schema `gateway` first. Throws RangeError when the given key has the wrong form, and EndedKeyError when it was revoked or has
 *  expired: it stays so. */
export const ensureSandboxMerchant = async ({
  databaseUrl,
  pepper,
  apiKey,
}: SandboxOptions): Promise<SandboxMerchant> => {
  const key = apiKey === undefined ? undefined : givenKey(apiKey);
  const log = createLogger({ name: 'sandbox', level: 'warn' });
  const pool = createPool({ url: databaseUrl, name: 'sandbox', max: 1, log });
  try {
    await migrateGateway(pool);
    const merchantId = await demoMerchant(pool);
    if (!key && (await credentialsOf(pool, merchantId)).some(({ status }) => status === 'active')) {
      return { merchantId, apiKey: null };
    }
    if (key && (await takeUp(pool, merchantId, key, pepper))) return { merchantId, apiKey: key.text };
    const grant = { merchantId, scopes: Scope.options, environment: 'sandbox' } as const;
    const { text } = await issueKey(pool, grant, { pepper, at: new Date(), ...(key && { key }) });
    return { merchantId, apiKey: text };
  } finally {
    await pool.end();
  }
};

const givenKey = (text: string): ApiKey => {
  const key = parseApiKey(text);
  if (key?.environment !== 'sandbox') {
    throw new RangeError('a sandbox key is ak_sandbox_ and 32 to 128 letters and digits');
  }
  return key;
};

const demoMerchant = async (pool: Pool): Promise<string> => {
  const id = `mer_${newSeed()}`;
  if (await insertMerchant(pool, id, DEMO, new Date())) return id;
  const known = await merchantByReference(pool, DEMO.external_reference_id);
  if (!known) throw new Error('the demo merchant is gone');
  return known.resource.id;
};

/** Whether a record under the key's kid is there already; its secret is brought in line when it is another. */
const takeUp = async (pool: Pool, merchantId: string, key: ApiKey, pepper: string): Promise<boolean> => {
  const known = await credentialByKid(pool, key.kid);
  if (!known) return false;
  if (known.merchant_id !== merchantId) throw new RangeError('another merchant has a key that begins like this one');
  if (known.status === 'revoked' || (known.expires_at !== null && known.expires_at <= new Date())) {
    throw new EndedKeyError('SANDBOX_API_KEY was revoked or has expired: set another one, or none');
  }
  if (!(await verifySecret(key.secret, known, pepper))) {
    await replaceSecret(
      pool,
      key.kid,
      { ...(await hashSecret(key.secret, pepper)), last4: key.text.slice(-4) },
      new Date(),
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
