import { admin, openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { entriesIn, intactStreamsIn, linkedStreamsIn } from './harness/order-stream.ts';
import { serviceAdmin, type ServiceName } from './harness/services.ts';
import { purchase } from './harness/shoppers.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;

beforeAll(async () => {
  shop = await openShop(stack);
});
afterAll(() => shop.api.close());

const outcomeOf = (name: ServiceName, command: string) => serviceAdmin(stack, name, command).outcome();

test('a merchant reads the complete history of an order, and an auditor verifies its hash chains', async () => {
  const { order } = await purchase(shop.api);
  const { items, next_cursor } = await shop.api.history(order.id);
  expect(next_cursor).toBeUndefined();
  const streams = [`order-${order.id}`, `payment-${order.payments[0]!.id}`];
  expect(new Set(items.map(({ stream }) => stream))).toEqual(new Set(streams));
  expect(items[0]).toMatchObject({ type: 'OrderCreated', sequence: 0, actor: `key:${shop.key.slice(11, 23)}` });
  expect(items.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['OrderPaymentsApplied', 'OrderPaid', 'PaymentReceived', 'PaymentApplied']),
  );
  expect(linkedStreamsIn(items).sort()).toEqual(streams.sort());
  const { body } = await shop.api.send('GET', `/v1/orders/${order.id}/history`);
  expect(JSON.stringify(body)).not.toMatch(/Minor"|derivation/);
  const recorded = entriesIn(await admin(stack, ['orders', 'history', order.id, '--json']));
  expect(recorded.map(({ id, hash }) => [id, hash])).toEqual(items.map(({ id, hash }) => [id, hash]));
  expect(intactStreamsIn(recorded).sort()).toEqual(streams.sort());
  const forged = recorded.map((entry) => ({ ...entry, data: { ...entry.data, at: '2020-01-01T00:00:00.000Z' } }));
  expect(intactStreamsIn(forged)).toEqual([]);
  expect(await admin(stack, ['orders', 'history', order.id])).toContain('#0  OrderCreated  by key:');
});

test('a long history is paged without gaps or duplicates', async () => {
  const { id } = await shop.api.createOrder(orderBody());
  for (let n = 0; n < 70; n += 1) await shop.api.updateOrder(id, { metadata: { n } });
  const sequences: number[] = [];
  for (let cursor: string | undefined, pages = 1; ; pages += 1) {
    const { items, next_cursor } = await shop.api.history(id, { cursor });
    sequences.push(...items.map(({ sequence }) => sequence));
    if (next_cursor === undefined) {
      expect(pages).toBeGreaterThan(1);
      break;
    }
    cursor = next_cursor;
  }
  expect(sequences).toEqual(Array.from({ length: 71 }, (_, n) => n));
  expect((await shop.api.send('GET', `/v1/orders/${id}/history?cursor=nonsense`)).status).toBe(400);
});

test('an order is read as it was at an earlier instant', async () => {
  const created = await shop.api.createOrder(orderBody());
  const changed = await shop.api.updateOrder(created.id, { metadata: { table: 'B7' } });
  const canceled = await shop.api.cancel(created.id);
  for (const then of [created, changed, canceled]) {
    expect(await shop.api.order(created.id, { at: then.updated_at! })).toEqual(then);
  }
  expect(JSON.parse(await admin(stack, ['orders', 'show', created.id, '--at', changed.updated_at!]))).toEqual(changed);
  const before = new Date(Date.parse(created.created_at!) - 1).toISOString();
  expect((await shop.api.send('GET', `/v1/orders/${created.id}?at=${before}`)).status).toBe(404);
  expect((await shop.api.send('GET', `/v1/orders/${created.id}?at=yesterday`)).status).toBe(400);
});

test('a merchant cannot read a deleted order; an auditor sees who deleted it', async () => {
  const { id } = await shop.api.createOrder(orderBody());
  await shop.api.deleteOrder(id);
  for (const path of [`/v1/orders/${id}/history`, `/v1/orders/${id}?at=${new Date().toISOString()}`])
    expect((await shop.api.send('GET', path)).status).toBe(404);
  const [record, ...others] = entriesIn(await admin(stack, ['orders', 'history', id, '--json']));
  expect(others).toEqual([]);
  expect(record).toMatchObject({ stream: `deletion-${id}`, type: 'OrderDeletionRecorded' });
  expect(record!.data.actor).toBe(`key:${shop.key.slice(11, 23)}`);
  await expect(admin(stack, ['orders', 'show', id, '--at', new Date().toISOString()])).rejects.toThrow(
    'or has been deleted since',
  );
  expect((await outcomeOf('orders', 'audit export')).output).not.toContain(`"order-${id}"`);
});

test('commands print what others wrote without its control characters', async () => {
  const evil = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202ered\rgone';
  const order = await shop.api.createOrder(orderBody({ metadata: { [evil]: evil } }));
  const printed = [
    await admin(stack, ['orders', 'history', order.id]),
    await admin(stack, ['orders', 'show', order.id, '--at', new Date(Date.now() + 1_000).toISOString()]),
  ].join('');

  expect(printed).toContain('\\u001b[2J');
  // eslint-disable-next-line no-control-regex
  expect(printed).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
});

test.each<[ServiceName, string]>([
  ['gateway', 'merchants list'],
  ['orders', 'audit export'],
  ['payments', 'chains status'],
])('a command of %s ends silently when its reader has enough: %s', async (name, command) => {
  const running = serviceAdmin(stack, name, command);
  running.stopReading();
  expect(await running.outcome()).toEqual({ code: 141, output: '' });
});
