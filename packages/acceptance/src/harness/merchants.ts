import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type CreateMerchantDto, PaymentCurrency, PaymentRail } from '@cpg/contracts';
import { type Api, createApi } from './api.ts';
import type { StackFiles } from './stack-files.ts';

/** A merchant of its own: nothing that another test does is seen by it. */
export interface Shop {
  readonly id: string;
  readonly key: string;
  readonly api: Api;
}

/** The command line of the gateway. */
export const ADMIN = fileURLToPath(new URL('../../../../services/gateway/dist/admin.js', import.meta.url));

/** Makes a merchant that takes every currency on every rail, and a key of all scopes, as an operator would. */
export const openShop = async (stack: StackFiles): Promise<Shop> => {
  const definition: CreateMerchantDto = {
    type: 'individual',
    external_reference_id: `shop-${randomUUID()}`,
    individual_profile: { first_name: 'Ada', last_name: 'Test', email: 'ada@shop.example' },
    payment_methods: PaymentRail.options.map((type) => ({
      type,
      supported_currencies: PaymentCurrency.options,
      deposit_instructions: {},
    })),
    metadata: {},
  };
  const { id } = JSON.parse(await admin(stack, ['merchants', 'create', '--file', '-'], definition)) as { id: string };
  const key = await createKey(stack, id, 'all');
  return { id, key, api: createApi({ baseUrl: stack.baseUrl, apiKey: key }) };
};

/** A new key of a merchant: `scopes` is `all`, or names separated by commas. */
export const createKey = async (
  stack: StackFiles,
  merchantId: string,
  scopes: string,
  more: readonly string[] = [],
): Promise<string> => {
  const shown = await admin(stack, ['keys', 'create', merchantId, '--scopes', scopes, ...more]);
  return shown.split('\n')[0]!;
};

/** Runs the operator's command line on a stack. Throws with what it said on standard error when it fails. */
export const admin = (stack: StackFiles, args: readonly string[], input?: unknown): Promise<string> =>
  new Promise((done, fail) => {
    const env = { ...process.env, NODE_OPTIONS: '', ...stack.environment };
    const child = execFile(process.execPath, [ADMIN, ...args], { env, timeout: 30_000 }, (error, stdout, stderr) =>
      error ? fail(new Error(`admin ${args.join(' ')}: ${stderr}`, { cause: error })) : done(stdout.trim()),
    );
    child.stdin?.end(input === undefined ? '' : JSON.stringify(input));
  });
