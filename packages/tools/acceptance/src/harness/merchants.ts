import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { PaymentCurrency, PaymentRail } from '@cpg/contracts';
import { openOperator } from '@cpg/gateway/operator.js';
import { type Api, createApi } from './api.ts';
import type { StackFiles } from './stack-files.ts';

/** A merchant that no other test uses. */
export interface Shop {
  readonly id: string;
  readonly key: string;
  readonly api: Api;
}

/** The gateway's command line. */
export const ADMIN = fileURLToPath(new URL('../../../../../services/gateway/dist/admin.js', import.meta.url));

const DEFINITION = {
  type: 'individual',
  individual_profile: { first_name: 'Ada', last_name: 'Test', email: 'ada@shop.example' },
  payment_methods: PaymentRail.options.map((type) => ({
    type,
    supported_currencies: PaymentCurrency.options,
    deposit_instructions: {},
  })),
  metadata: {},
} as const;

/** Creates a merchant that takes every currency on every rail, with a key of all scopes. */
export const openShop = (stack: StackFiles): Promise<Shop> =>
  asOperator(stack, async (operator) => {
    const { id } = await operator.createMerchant({ ...DEFINITION, external_reference_id: `shop-${randomUUID()}` });
    const { text: key } = await operator.createKey({ merchantId: id, scopes: 'all' });
    return { id, key, api: createApi({ baseUrl: stack.baseUrl, apiKey: key }) };
  });

/** Creates another key of a merchant: `scopes` is `all` or a comma-separated list, `allowedIps` a comma-separated
 *  list of CIDR blocks. */
export const createKey = (
  stack: StackFiles,
  merchantId: string,
  scopes: string,
  { allowedIps }: { allowedIps?: string } = {},
): Promise<string> =>
  asOperator(stack, async (operator) => (await operator.createKey({ merchantId, scopes, allowIp: allowedIps })).text);

/** Creates a user of a merchant, and returns the path of their sign-in link. */
export const createUser = (
  stack: StackFiles,
  merchantId: string,
  user: Omit<Parameters<ReturnType<typeof openOperator>['createUser']>[0], 'merchantId'>,
): Promise<string> => asOperator(stack, (operator) => operator.createUser({ merchantId, ...user }));

/** Runs in this process: starting the command line would take longer than most tests. */
const asOperator = async <T>(
  { environment }: StackFiles,
  work: (operator: ReturnType<typeof openOperator>) => Promise<T>,
): Promise<T> => {
  const operator = openOperator({ databaseUrl: environment.DATABASE_URL!, pepper: environment.API_KEY_PEPPER! });
  try {
    return await work(operator);
  } finally {
    await operator.close();
  }
};

/** Runs the gateway's command line in a process of its own, and resolves with its output. Throws with its standard
 *  error if it fails. */
export const admin = (stack: StackFiles, args: readonly string[], input?: unknown): Promise<string> =>
  new Promise((done, fail) => {
    const env = { ...process.env, NODE_OPTIONS: '', ...stack.environment };
    const child = execFile(process.execPath, [ADMIN, ...args], { env, timeout: 30_000 }, (error, stdout, stderr) =>
      error ? fail(new Error(`admin ${args.join(' ')}: ${stderr}`, { cause: error })) : done(stdout.trim()),
    );
    child.stdin?.end(input === undefined ? '' : JSON.stringify(input));
  });
