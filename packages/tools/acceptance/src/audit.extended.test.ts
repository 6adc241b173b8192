import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordedEntry } from '@cpg/contracts';
import pg from 'pg';
import { admin, openShop, type Shop } from './harness/merchants.ts';
import { entriesIn } from './harness/order-stream.ts';
import { serviceAdmin, type ServiceName } from './harness/services.ts';
import { purchase } from './harness/shoppers.ts';
import { type Stack, startStack } from './harness/stack.ts';

let stack: Stack;
let shop: Shop;

beforeAll(async () => {
  stack = await startStack();
  shop = await openShop(stack);
});
afterAll(async () => {
  await shop?.api.close();
  await stack?.stop();
});

const outcomeOf = (name: ServiceName, command: string) => serviceAdmin(stack, name, command).outcome();

test('`audit export` contains the events that the merchant reads', async () => {
  const { order } = await purchase(shop.api);
  const { items } = await shop.api.history(order.id);
  const exported = (await Promise.all([outcomeOf('orders', 'audit export'), outcomeOf('payments', 'audit export')]))
    .flatMap(({ output }) => entriesIn(output))
    .filter(({ stream }) => stream.includes(order.id) || stream.includes(order.payments[0]!.id));
  expect(exported).toHaveLength(items.length);
  const links = ({ id, stream, hash }: Pick<RecordedEntry, 'id' | 'stream' | 'hash'>) => ({ id, stream, hash });
  expect(exported.map(links)).toEqual(expect.arrayContaining(items.map(links)));
});

test('`audit verify` finds an event that was changed in the database', async () => {
  const { order } = await purchase(shop.api);
  const paymentId = order.payments[0]!.id;
  expect(await outcomeOf('payments', 'audit verify')).toMatchObject({ code: 0 });

  const events = new pg.Client({ connectionString: stack.databaseUrl.replace(/\/app$/, '/eventstore') });
  await events.connect();
  const change = (from: string, to: string) =>
    events.query(
      `update eventstore.event set data = convert_to(replace(convert_from(data, 'utf8'), $2, $3), 'utf8')
         where stream = $1 and revision = 0`,
      [`payment-${paymentId}`, `"amountMinor":"${from}"`, `"amountMinor":"${to}"`],
    );
  try {
    expect((await change('10000000', '10000001')).rowCount).toBe(1);
    const { code, output } = await outcomeOf('payments', 'audit verify');
    expect(code).toBe(1);
    expect(output).toContain(`payment-${paymentId}, event 0: its hash does not match its content`);
    const orderStream = `order-${order.id}`;
    expect(output).toContain(
      `payment-${paymentId}, event 0: amountMinor is 10000001, but 10000000 by ${orderStream}, event `,
    );
    expect(output).toContain('keep a copy of the event store first');
    expect(output).toMatch(/payment-\*, ledger-\*, account-\*, .*: 1 of \d+ events fail verification/);
  } finally {
    await change('10000001', '10000000');
    await events.end();
  }
  expect(await outcomeOf('payments', 'audit verify')).toMatchObject({ code: 0 });
  expect(await outcomeOf('orders', 'audit verify')).toMatchObject({ code: 0 });
});

test('`audit verify --since` checks what was recorded since its file was written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-verify-'));
  const file = join(folder, 'verified.json');
  try {
    await purchase(shop.api);
    for (const name of ['orders', 'payments'] as const)
      expect(await outcomeOf(name, `audit verify --since ${file}`)).toMatchObject({
        code: 0,
        output: expect.stringContaining('rows, all match the event store'),
      });
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object)).toEqual(['orders', 'payments']);
    await purchase(shop.api);
    const { code, output } = await outcomeOf('payments', `audit verify --since=${file}`);
    expect(code).toBe(0);
    expect(output).toContain('payments: streams that changed since ');
    expect(output).toMatch(/payment-\*, .*: [1-9]\d* events, all hash chains are intact/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  [['orders', 'history', 'ord_none'], 'is not an order id'],
  [['orders', 'history', 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C'], 'has no recorded events'],
  [['orders', 'show', 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C', '--at', 'noon'], 'must be ISO 8601'],
  [['orders', 'show', 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C', '--at', '2026-01-31T12:00:00Z'], 'did not exist at'],
  [['orders', 'forge'], "unknown command 'forge'"],
])('%j fails with a reason', async (args, why) => {
  await expect(admin(stack, args)).rejects.toThrow(why);
});
