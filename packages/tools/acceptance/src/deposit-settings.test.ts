import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { admin, openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';
import { until } from './harness/until.ts';

const NETWORK = 'bitcoin-testnet';
const KEY =
  'vpub5YCCuMv7ee5wsjp7kfbkCMKRXQ4FNQBDrn3JgZh1vuBsjTkzrfyudC4kJa5X8yKeqVSp75byKmQ84CwH4iKJftnaeaPt83zCneieH13VyzB';

const stack = sharedStack();
let shop: Shop;
let other: Shop;
let folder: string;

beforeAll(async () => {
  [shop, other] = await Promise.all([openShop(stack), openShop(stack)]);
  folder = mkdtempSync(join(tmpdir(), 'account-key-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([shop.api.close(), other.api.close()]);
});

const depositTo = async ({ api }: Shop) => {
  const bitcoin = { payment_currency: 'BTC' as const, enable_rails: ['crypto_deposit' as const] };
  const { deposit_instructions: shown } = await api.createOrder(
    orderBody({ ...bitcoin, items: [item('500', 'USDT')] }),
  );
  const [instruction] = shown;
  if (instruction?.rail !== 'crypto_deposit') throw new Error('not a deposit');
  return instruction;
};

test('new orders show addresses and confirmations of their merchant within seconds after an admin command', async () => {
  const file = join(folder, 'key');
  writeFileSync(file, KEY);
  const at = (merchant: Shop) => [merchant.id, '--network', NETWORK];
  const before = await depositTo(shop);
  const output = await admin(stack, ['accounts', 'set', ...at(shop), '--file', file]);
  expect(output).not.toContain(KEY);
  const first = /Compare (tb1\w+) /.exec(output)![1]!;
  const ofOthers = new Set([before.address]);
  await until('an order shows the first address of the account', async () => {
    ofOthers.add((await depositTo(other)).address);
    return (await depositTo(shop)).address === first;
  });
  expect(ofOthers).not.toContain(first);
  await expect(admin(stack, ['accounts', 'set', ...at(other), '--file', file])).rejects.toThrow(/another merchant/);

  const confirmations = ['--asset', before.asset, '--confirmations', '42'];
  await admin(stack, ['confirmations', 'set', shop.id, ...confirmations]);
  await until('an order shows its confirmations', async () => (await depositTo(shop)).required_confirmations === 42);
  expect((await depositTo(other)).required_confirmations).toBe(before.required_confirmations);
});
