import type { RecordedEntry } from '@cpg/contracts';
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

test.each([
  [['orders', 'history', 'ord_none'], 'is not an order id'],
  [['orders', 'history', 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C'], 'has no recorded events'],
  [['orders', 'show', 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C', '--at', 'noon'], 'must be ISO 8601'],
  [['orders', 'show', 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C', '--at', '2026-01-31T12:00:00Z'], 'did not exist at'],
  [['orders', 'forge'], "unknown command 'forge'"],
])('%j fails with a reason', async (args, why) => {
  await expect(admin(stack, args)).rejects.toThrow(why);
});
