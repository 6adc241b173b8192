import type { Order } from '@cpg/sdk';
import type { Cart, Outcome, Shop, Store } from '@cpg/shop-client';
import fc from 'fast-check';
import { createPages } from './page.ts';

const CART: Cart = {
  reference: 'paycol_1',
  lines: [],
  total: { minor: 1550n, currency: 'USD' },
  coin: 'USDC',
  rails: ['gateway_pay'],
};

/** A gateway and a store in memory. `step` is awaited before each request. */
const inMemory = (step: () => Promise<void> = async () => {}) => {
  const rows = new Map<string, string>();
  const store: Store = {
    read: async (name) => (await step(), rows.get(name)),
    replace: async (name, expected, next) => {
      await step();
      if (rows.get(name) !== expected) return false;
      rows.set(name, next);
      return true;
    },
  };
  const orders = new Map<string, Order>();
  const done = (order: Order): Outcome<Order> => ({ ok: true, value: { ...order } });
  // The Idempotency-Key of a creation is made of the order before it.
  const create = ({ total }: Cart, previous: string | undefined): Outcome<Order> => {
    const id = `ord_after_${previous}`;
    if (orders.has(id)) return done(orders.get(id)!);
    const order = { id, status: 'awaiting_payment', item_totals: { USD: (Number(total.minor) / 100).toFixed(2) } };
    orders.set(id, order as unknown as Order);
    return done(orders.get(id)!);
  };
  const gateway = {
    open: async (cart: Cart, known?: string) => {
      await step();
      const order = known === undefined ? undefined : orders.get(known)!;
      if (!order || order.status === 'canceled' || cart.settled?.includes(order.id)) return create(cart, known);
      return done(order);
    },
    cancel: async (id: string) => {
      await step();
      const order = orders.get(id)!;
      if (order.status === 'awaiting_payment') order.status = 'canceled';
      return done(order);
    },
  };
  return { orders, store, pages: createPages(gateway as unknown as Shop['orders'], store) };
};

const idOf = (outcome: Outcome<Order>): string => {
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome.value.id;
};

test('a new session shows the order of the one before it', async () => {
  const { pages, orders } = inMemory();
  const first = idOf(await pages.open(CART, 'payses_1'));
  expect(idOf(await pages.open(CART, 'payses_2'))).toBe(first);
  await pages.close(CART.reference, 'payses_1', first);
  expect(orders.get(first)!.status).toBe('awaiting_payment');
  await pages.close(CART.reference, 'payses_2', first);
  expect(orders.get(first)!.status).toBe('canceled');
  expect(idOf(await pages.open(CART, 'payses_3'))).not.toBe(first);
});

test('what was paid for another total is not shown as the payment of this one', async () => {
  const { pages, orders } = inMemory();
  const first = idOf(await pages.open(CART, 'payses_1'));
  orders.get(first)!.status = 'paid';
  expect(idOf(await pages.open(CART, 'payses_2'))).toBe(first);
  const dearer = { ...CART, total: { minor: 2600n, currency: 'USD' as const } };
  expect(idOf(await pages.open(dearer, 'payses_3'))).not.toBe(first);
});

test('a session that starts while another is deleted shows an order that stays payable', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      let isRunning = false;
      const step = async () => void (isRunning && (await scheduler.schedule(Promise.resolve())));
      const { pages, orders } = inMemory(step);
      const first = idOf(await pages.open(CART, 'payses_1'));
      isRunning = true;
      const both = Promise.all([
        pages.open(CART, 'payses_2').then(idOf),
        pages.close(CART.reference, 'payses_1', first),
      ]);
      const [shown] = await scheduler.waitFor(both);
      expect(orders.get(shown)!.status).toBe('awaiting_payment');
      const payable = [...orders.values()].filter(({ status }) => status === 'awaiting_payment');
      expect(payable.map(({ id }) => id)).toEqual([shown]);
    }),
  );
});
