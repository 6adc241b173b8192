import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { openShop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { serviceAdmin } from './harness/services.ts';
import { type Stack, startStack } from './harness/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

const SERVICES = ['gateway', 'orders', 'webhook-dispatcher'] as const;
const PRODUCTION = { ENVIRONMENT: 'production', WEBHOOK_ALLOW_LOCAL: 'false', TEST_WALLET_URL: '' };

/** Runs a service with the environment of the stack until it ends by itself. */
const run = async (name: string, env: NodeJS.ProcessEnv) => {
  const main = fileURLToPath(new URL(`../../../../services/${name}/dist/main.js`, import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, NODE_OPTIONS: '', LOG_LEVEL: 'error', ...stack.environment, PORT: '0', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  return { error: await text(child.stderr), code: await ended };
};

test('services of production do not start on the data of a sandbox', async () => {
  const keys = { ...ACCOUNTS, PUBLIC_URL: 'https://pay.example' };
  const refused = await Promise.all(SERVICES.map((name) => run(name, { ...PRODUCTION, ...keys })));
  for (const [index, { error, code }] of refused.entries()) {
    const schema = SERVICES[index] === 'webhook-dispatcher' ? 'webhooks' : SERVICES[index];
    expect(error).toBe(
      `ENVIRONMENT is production, but schema ${schema} of the database at DATABASE_URL belongs to sandbox: correct ENVIRONMENT or the address\n`,
    );
    expect(code).toBe(1);
  }
});

test('payments of production does not start where nobody would see a payment', async () => {
  const { error, code } = await run('payments', { ...PRODUCTION, ...ACCOUNTS, ASSETS_FILE: '', CHAIN_URLS: '' });
  expect(error).toMatch(
    /^no payment would be seen: set CHAIN_URLS with nodes of bitcoin or ethereum, or PROVIDERS_FILE /,
  );
  expect(code).toBe(1);
});

test('orders, payments and their admin commands keep the decimals of stored amounts', async () => {
  const shop = await openShop(stack);
  await shop.api.createOrder(orderBody({ payment_currency: 'CAZ' })).finally(() => shop.api.close());
  const other = { CAZ_DECIMALS: '6' };
  const refusal =
    /^CAZ_DECIMALS is 6, but the amounts of CAZ in this event store have 18 decimals: set CAZ_DECIMALS=18 /;
  const sixDecimals = { ...stack, environment: { ...stack.environment, ...other } };
  const [rebuild, ...starts] = await Promise.all([
    serviceAdmin(sixDecimals, 'orders', 'projections rebuild').outcome(),
    run('orders', other),
    run('payments', other),
  ]);
  for (const start of starts) expect(start).toEqual({ error: expect.stringMatching(refusal), code: 1 });
  expect(rebuild).toEqual({ output: expect.stringMatching(refusal), code: 2 });
});

test('an operator can see to which environment each store belongs', async () => {
  const { code, output } = await serviceAdmin(stack, 'orders', 'environment show').outcome();
  expect(output).toMatch(
    /^schema gateway: sandbox\nschema orders: sandbox\nschema payments: sandbox\nschema webhooks: sandbox\nevent store: sandbox \(sto_\w{26}\)\n$/,
  );
  expect(code).toBe(0);
});

// Of random seeds.
const ACCOUNTS = {
  BITCOIN_XPUB:
    'zpub6rgW3smTPgNyF1Citg7j8u6cfFtKgsKh1evibyzAZt7H7w8gqh1hR8avKYSVZaaUu3MNihc7MtYWCDFkViT7ASsp4Wf8whrR8L7Bdtk2HJj',
  EVM_XPUB:
    'xpub6Bk1cJ7i6nLHqG7gmaUCBPKkFhBEuof5RyAjrooUtipo2yBKWz66YigEs1zYQ299R17VMtEdw5wcyqTRA9e5ZE9c9vvhTgjVpzwpZHNQMRj',
};
