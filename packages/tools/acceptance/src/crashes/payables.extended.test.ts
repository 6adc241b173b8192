import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Order, OrderEvent, PaymentCurrency, RegisteredPayment } from '@cpg/contracts';
import { EventStoreDBClient, START } from '@eventstore/db-client';
import { retryUntilAnswered } from '../harness/api.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { item, orderBody } from '../harness/order-bodies.ts';
import { freeze } from '../harness/process-tree.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** Where an order says that it can be paid: `network/address` and `provider/reference`. */
const payablesIn = ({ deposit_instructions }: Order): string[] =>
  deposit_instructions.map((instruction) =>
    instruction.rail === 'crypto_deposit'
      ? `${instruction.network}/${instruction.address}`
      : `${instruction.provider}/${instruction.payment_reference}`,
  );

/** The orders that show each address and each reference, from the log of the event store. */
const recordedPayables = async (client: EventStoreDBClient): Promise<Map<string, Set<string>>> => {
  const orders = new Map<string, Set<string>>();
  const events = client.readAll({ fromPosition: START, direction: 'forwards' });
  for await (const { event } of events) {
    if (!event?.streamId.startsWith('order-')) continue;
    const { type, data } = OrderEvent.parse({ type: event.type, data: event.data });
    if (type !== 'OrderCreated' && type !== 'OrderInstructed') continue;
    for (const instruction of data.instructions ?? []) {
      const payable =
        instruction.rail === 'crypto_deposit'
          ? `${instruction.network}/${instruction.address}`
          : `${instruction.provider}/${instruction.paymentReference}`;
      orders.set(payable, (orders.get(payable) ?? new Set()).add(event.streamId.slice('order-'.length)));
    }
  }
  return orders;
};

/** Reports money at an address to payments of a sandbox, as its gateway does for simulated payments. Null when there is
 *  no answer to rely on: then a watcher reports it again. */
const reportDeposit = async (
  { environment }: StackFiles,
  deposit: {
    readonly address: string;
    readonly amount: string;
    readonly currency: string;
    readonly provider_id: string;
  },
): Promise<RegisteredPayment | null> => {
  const answer = await fetch(`${environment.PAYMENTS_URL}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${environment.GATEWAY_TO_PAYMENTS_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...deposit, rail: 'crypto_deposit', confirmed: true }),
  }).catch(() => null);
  if (!answer || answer.status === 503) return null;
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`the deposit was answered ${answer.status}: ${text}`);
  return RegisteredPayment.parse(JSON.parse(text));
};

const VICTIMS = ['orders-1', 'payments-1', 'payments-2', 'eventstore', 'postgres', 'gateway', 'kafka'];
const CURRENCIES = PaymentCurrency.options;

let stack: Stack;
let shop: Shop;
/** Every order that was shown, also in the answers to repeats. */
const shown: Order[] = [];

beforeAll(async () => {
  // Some appends are written, but not answered in time.
  stack = await startStack({ scale: 'orders=2,payments=2', env: { EVENTSTORE_TEST_FAULTS: 'commit-timeout/37' } });
  shop = await openShop(stack);
});

afterAll(async () => {
  await shop?.api.close();
  await stack?.stop();
});

const create = async (n: number): Promise<Order> => {
  const headers = { 'idempotency-key': randomUUID() };
  const body = orderBody({ items: [item('100', 'USD')], payment_currency: CURRENCIES[n % CURRENCIES.length]! });
  const send = () => retryUntilAnswered(() => shop.api.send('POST', '/v1/orders', { body, headers }));
  const answers = [await send()];
  if (n % 3 === 0) answers.push(await send());
  for (const { status, body: order, text } of answers) {
    if (status !== 201) throw new Error(`refused with ${status}: ${text}`);
    shown.push(Order.parse(order));
  }
  return shown.at(-1)!;
};

/** Sends money to the address of an order, and reports it until payments has recorded it. */
const pay = async (order: Order): Promise<void> => {
  const deposit = order.deposit_instructions.find((instruction) => instruction.rail === 'crypto_deposit');
  // A provider was slow: the order gets its instructions later.
  if (!deposit) return;
  const { address, amount, currency } = deposit;
  const found = await until(`the money at ${address}`, () =>
    reportDeposit(stack, { address, amount, currency, provider_id: `tx-${order.id}` }),
  );
  expect(found.payment).toMatchObject({ order_id: order.id, merchant_id: shop.id });
};

/** Creates and pays orders, one after another, until it is stopped. */
const startPayers = (count: number) => {
  let [stopped, done] = [false, 0];
  const payer = async (first: number) => {
    for (let n = first; !stopped; n += count) {
      await pay(await create(n));
      done += 1;
    }
  };
  const all = Promise.all(Array.from({ length: count }, (_, n) => payer(n)));
  all.catch(() => {});
  return {
    done: () => done,
    stop: () => {
      stopped = true;
      return all;
    },
  };
};

/** Checks that no address and no reference has two orders, and that each order still shows what it showed first. */
const expectNothingTwice = async () => {
  const client = EventStoreDBClient.connectionString(stack.eventstoreUrl);
  const recorded = await recordedPayables(client).finally(() => client.dispose());
  expect([...recorded].filter(([, orders]) => orders.size > 1)).toEqual([]);
  for (const order of shown)
    for (const payable of payablesIn(order)) expect(recorded.get(payable)).toEqual(new Set([order.id]));
};

test.each(VICTIMS)(
  'kill -9 of %s while orders are created: no payable has two orders, and money finds its order',
  async (victim) => {
    const payers = startPayers(6);
    await until('orders before the kill', () => payers.done() >= 6);
    for (let kill = 1; kill <= 2; kill += 1) {
      await stack.kill(victim);
      const before = payers.done();
      await until('orders after the kill', () => payers.done() >= before + 12);
    }
    await payers.stop();
    await expectNothingTwice();
  },
);

test('orders are created from the stock while payments is frozen, and their money finds them afterwards', async () => {
  const warm = startPayers(6);
  await until('a stock', () => warm.done() >= 40);
  await warm.stop();
  const resumes = ['payments-1', 'payments-2'].map((name) => freeze(stack.pidOf(name)!));
  const orders: Order[] = [];
  try {
    for (let n = 0; n < 3; n += 1) orders.push(await create(1));
    await sleep(100);
  } finally {
    for (const resume of resumes) resume();
  }
  for (const order of orders) expect(order.status).toBe('awaiting_payment');
  for (const order of orders) await pay(order);
  await expectNothingTwice();
});
