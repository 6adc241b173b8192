import type { CreateMerchantDto } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyInstance } from 'fastify';
import { insertMerchant } from '../api/merchants/merchant-queries.ts';
import { type KeyEnvironment, Scope } from '../door/keys/api-key.ts';
import { issueKey, type KeySpec } from '../door/keys/credentials.ts';
import { type Method, send, type TestResponse } from './jest-send.ts';

export const PEPPER = 'pepper of the tests, thirty-two characters';

export interface TestMerchant {
  readonly id: string;
  readonly key: string;
  /** Sends a request with the merchant's key. */
  readonly send: (
    method: Method,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<TestResponse>;
  /** Creates another key of the merchant. */
  readonly issue: (spec: Partial<KeySpec> & { alg?: 'SCRYPT' | 'ARGON2ID' }) => Promise<string>;
}

export interface TestMerchantOptions {
  readonly app: FastifyInstance;
  readonly pool: Pool;
  readonly environment: KeyEnvironment;
  readonly now: () => Date;
  /** Replaces fields of the merchant's first key, which has all scopes by default. */
  readonly spec: Partial<KeySpec>;
}

/** Creates a merchant with a key. */
export const createTestMerchant = async (options: TestMerchantOptions): Promise<TestMerchant> => {
  const { app, pool, environment, now, spec } = options;
  const id = `mer_${newUlid()}`;
  await insertMerchant(pool, id, { ...MERCHANT, external_reference_id: id }, now());
  const issue: TestMerchant['issue'] = async ({ alg, ...more }) => {
    const complete = { merchantId: id, scopes: Scope.options, environment, ...more } satisfies KeySpec;
    return (await issueKey(pool, complete, { pepper: PEPPER, at: now(), ...(alg && { alg }) })).text;
  };
  const key = await issue(spec);
  return {
    id,
    key,
    issue,
    send: (method, url, body, headers) => send(app, method, url, body, { 'x-api-key': key, ...headers }),
  };
};

const MERCHANT: CreateMerchantDto = {
  type: 'individual',
  external_reference_id: 'of the tests',
  individual_profile: { first_name: 'Ada', last_name: 'Byron', email: 'ada@shop.example' },
  payment_methods: [
    { type: 'crypto_deposit', supported_currencies: ['USDC', 'BTC'], deposit_instructions: {} },
    { type: 'gateway_pay', supported_currencies: ['USDC'], deposit_instructions: {} },
  ],
  metadata: {},
};
