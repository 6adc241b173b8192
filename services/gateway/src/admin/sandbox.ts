import { type CreateMerchantDto, PaymentCurrency, PaymentRail } from '@cpg/contracts';
import { CommaSeparatedList, createLogger, newId, newUlid, wallClock } from '@cpg/platform';
import { createPool, type Pool, transaction } from '@cpg/platform/postgres';
import { issueRecordedKey } from '../api/api-keys/key-changes.ts';
import { createMerchant } from '../api/merchants/merchant-changes.ts';
import { merchantByReference } from '../api/merchants/merchant-queries.ts';
import { byOperator, recordChange } from '../audit/record-change.ts';
import { type ApiKey, parseApiKey, Scope } from '../door/keys/api-key.ts';
import { credentialByKid, credentialsOf, replaceSecret } from '../door/keys/credentials.ts';
import { hashSecret, verifySecret } from '../door/keys/hash.ts';
import { makeSignInLink, pathOfLink } from '../identity/sign-in-links.ts';
import { createUser } from '../api/users/user-changes.ts';
import { userByEmail } from '../identity/users.ts';
import { userChangeByOperator } from './user-commands.ts';
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
  /** Signs the owner of the demo merchant in to the dashboard, once. */
  readonly signInPath: string;
}

/** The given key exists, but was revoked or has expired. */
export class InactiveKeyError extends Error {
  override readonly name = 'InactiveKeyError';
}

/** Creates the demo merchant of a sandbox, which accepts every currency on every rail, an owner, and a key with all
 *  scopes. Idempotent, but for the link that signs the owner in. Migrates the schema `gateway` first. Throws RangeError
 *  if the given key has the wrong form or belongs to another merchant, and InactiveKeyError if it was revoked or has
 *  expired. */
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
    const signInPath = await ensureDemoOwner(pool, merchantId);
    if (!key && (await credentialsOf(pool, merchantId)).some(({ status }) => status === 'active')) {
      return { merchantId, apiKey: null, signInPath };
    }
    if (key && (await reuseStoredKey(pool, merchantId, key, peppers)))
      return { merchantId, apiKey: key.text, signInPath };
    const spec = { merchantId, scopes: Scope.options, environment: 'sandbox' } as const;
    const making = { pepper: peppers[0]!, change: byOperator(wallClock()), ...(key && { key }) };
    const { text } = await transaction(pool, (db) => issueRecordedKey(db, spec, making));
    return { merchantId, apiKey: text, signInPath };
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
  if (await createMerchant(pool, id, DEMO, byOperator(wallClock()))) return id;
  const stored = await merchantByReference(pool, DEMO.external_reference_id);
  if (!stored) throw new Error('the demo merchant does not exist');
  return stored.resource.id;
};

/** Returns the path of a new sign-in link. An owner whom somebody disabled or changed stays so, and the link of a
 *  disabled one does not work. */
const ensureDemoOwner = async (pool: Pool, merchantId: string): Promise<string> => {
  const change = userChangeByOperator(wallClock());
  const known = await userByEmail(pool, OWNER.email);
  const link = known
    ? await transaction(pool, async (db) => {
        const made = await makeSignInLink(db, known.id, change);
        const record = { type: 'SignInLinkCreated', merchantId: known.merchant_id, subject: known.id } as const;
        await recordChange(db, record, change);
        return made;
      })
    : await createUser(pool, { id: newId('user'), merchantId, ...OWNER }, change);
  return pathOfLink(link);
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

const OWNER = { email: 'demo@shop.example', name: 'Demo owner', role: 'owner' } as const;

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
