import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { CheckoutOrder } from '../state/checkout-queries.ts';
import { followOpenPages, type PageState } from './open-pages.ts';

const timers = (import.meta as unknown as { jest: typeof jest }).jest;

const EVERY_MS = 1_000;

/** Orders and chains that a test changes, and clients that collect versions. */
const start = () => {
  const orders = new Map<string, PageState>();
  /** What the query of changes returns beside the ids, and what reached the loads. */
  const rows = new Map<string, CheckoutOrder>();
  const given: CheckoutOrder[] = [];
  const failing = new Set<string>();
  const loads: string[] = [];
  const warnings: unknown[] = [];
  let heights = 'ethereum 10';
  let queryMs = 0;
  const pages = followOpenPages({
    load: async (reference, row) => {
      loads.push(reference);
      if (row) given.push(row);
      if (failing.has(reference)) throw new Error('the database is unavailable');
      return orders.get(reference) ?? null;
    },
    changedOrders: async (known) => {
      if (queryMs > 0) await new Promise((resolve) => setTimeout(resolve, queryMs));
      if (failing.has('changes')) throw new Error('the database is unavailable');
      const isKnown = (id: string) => known.get(id) === orders.get(id)?.revision;
      return new Map([...known.keys()].filter((id) => !isKnown(id)).map((id) => [id, rows.get(id) ?? null]));
    },
    chainHeights: async () => heights,
    log: { warn: (fields: unknown) => void warnings.push(fields) },
    everyMs: EVERY_MS,
  });
  const set = (id: string, state: Partial<PageState>) => {
    const before = orders.get(id) ?? { orderId: id, revision: 1, version: 'first', waitsForBlocks: false };
    orders.set(id, { ...before, ...state });
  };
  const open = async (id: string) => {
    const client = new Client();
    pages.add((await pages.load(id))!, client as unknown as ServerResponse);
    return client;
  };
  return {
    ...pages,
    orders,
    rows,
    given,
    failing,
    loads,
    warnings,
    set,
    open,
    moveTo: (text: string) => void (heights = text),
    slowTo: (ms: number) => void (queryMs = ms),
  };
};

class Client extends EventEmitter {
  readonly received: string[] = [];
  hasEnded = false;
  write(text: string): void {
    this.received.push(/data: (.*)\n/.exec(text)![1]!);
  }
  end(text: string): void {
    this.write(text);
    this.hasEnded = true;
  }
}

beforeEach(() => void timers.useFakeTimers());
afterEach(() => void timers.useRealTimers());
const tick = () => timers.advanceTimersByTimeAsync(EVERY_MS);

test('tells the version at the start, and every client of a page when its order has changed', async () => {
  const { set, open } = start();
  set('a', {});
  set('b', {});
  const [one, two, other] = [await open('a'), await open('a'), await open('b')];
  set('a', { revision: 2, version: 'second' });
  await tick();
  expect([one, two, other].map(({ received }) => received)).toEqual([
    ['first', 'second'],
    ['first', 'second'],
    ['first'],
  ]);
});

test('asks for many pages in parts, and loads each from the row that its part found', async () => {
  const { set, open, rows, given } = start();
  const ids = Array.from({ length: 1_200 }, (_, n) => `order ${n}`);
  for (const id of ids) set(id, {});
  const clients = await Promise.all(ids.map(open));
  for (const id of ids) {
    set(id, { revision: 2, version: 'second' });
    rows.set(id, { revision: 2 } as CheckoutOrder);
  }
  await tick();
  expect(clients.filter(({ received }) => received.at(-1) === 'second')).toHaveLength(ids.length);
  expect(given).toEqual([...rows.values()]);
});

test('says nothing when an order changed and its page shows the same', async () => {
  const { set, open, loads } = start();
  set('a', {});
  const client = await open('a');
  set('a', { revision: 2 });
  await tick();
  await tick();
  expect([client.received, loads]).toEqual([['first'], ['a', 'a']]);
});

test('a new block changes the pages that wait for confirmations alone', async () => {
  const { set, open, moveTo, loads } = start();
  set('waits', { waitsForBlocks: true });
  set('paid', {});
  const [waits, paid] = [await open('waits'), await open('paid')];
  await tick();
  moveTo('ethereum 11');
  set('waits', { version: 'two confirmations' });
  await tick();
  expect([waits.received, paid.received]).toEqual([['first', 'two confirmations'], ['first']]);
  const before = loads.length;
  await tick();
  expect(loads).toHaveLength(before);
});

test('ends the stream of a deleted order', async () => {
  const { orders, set, open } = start();
  set('a', {});
  const client = await open('a');
  orders.delete('a');
  await tick();
  expect([client.received, client.hasEnded]).toEqual([['first', 'deleted'], true]);
});

test('goes on after a fault of the database, and tells what happened meanwhile', async () => {
  const { set, open, failing, warnings } = start();
  set('a', {});
  set('b', {});
  const [a, b] = [await open('a'), await open('b')];
  set('a', { revision: 2, version: 'second' });
  set('b', { revision: 2, version: 'second' });
  failing.add('a');
  await tick();
  failing.add('changes');
  await tick();
  expect([a.received, b.received, warnings.length]).toEqual([['first'], ['first', 'second'], 1]);
  failing.clear();
  await tick();
  expect(a.received).toEqual(['first', 'second']);
});

test('pauses for ten times the time of an update, but never longer than five seconds', async () => {
  const { set, open, slowTo } = start();
  set('a', {});
  const client = await open('a');
  const changeAfterUpdateOf = async (ms: number, version: string) => {
    slowTo(ms);
    await tick();
    await timers.advanceTimersByTimeAsync(ms);
    slowTo(0);
    set('a', { revision: client.received.length + 1, version });
  };
  await changeAfterUpdateOf(300, 'second');
  await timers.advanceTimersByTimeAsync(2_999);
  expect(client.received).toEqual(['first']);
  await timers.advanceTimersByTimeAsync(1);
  expect(client.received).toEqual(['first', 'second']);
  await changeAfterUpdateOf(4_000, 'third');
  await timers.advanceTimersByTimeAsync(5_000);
  expect(client.received).toEqual(['first', 'second', 'third']);
});

test('asks nothing once every client has left, nor after it was stopped', async () => {
  const { set, open, stop, loads } = start();
  set('a', {});
  const client = await open('a');
  client.emit('close');
  await tick();
  expect(timers.getTimerCount()).toBe(0);
  await open('a');
  await stop();
  set('a', { revision: 2 });
  await tick();
  expect([loads.length, timers.getTimerCount()]).toEqual([2, 0]);
});
