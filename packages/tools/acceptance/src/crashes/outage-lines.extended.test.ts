import { setTimeout as sleep } from 'node:timers/promises';
import { retryUntilAnswered } from '../harness/api.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { freeze } from '../harness/process-tree.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const SHOPPERS = 8;
// Longer than two attempts of an append.
const AWAY_MS = 11_000;

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

const create = (reference: string) =>
  shop.api.send('POST', '/v1/orders', {
    body: orderBody({ external_reference_id: reference }),
    headers: { 'idempotency-key': reference },
  });

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('an event store that is away under load is two log lines of each service and dependency', async () => {
  await retryUntilAnswered(() => create('before'));
  stack.log.splice(0);
  let refused = 0;
  const over = new AbortController();
  const shoppers = Array.from({ length: SHOPPERS }, async (_, shopper) => {
    for (let n = 0; !over.signal.aborted; n += 1) {
      const { status } = await create(`${shopper}-${n}`);
      if (status === 503) refused += 1;
      await sleep(20);
    }
  });
  const resume = freeze(stack.pidOf('eventstore')!);
  await sleep(AWAY_MS);
  resume();
  await retryUntilAnswered(() => create('after'));
  over.abort();
  await Promise.all(shoppers);
  expect(refused).toBeGreaterThan(0);

  const linesOf = (service: string, dependency: string) =>
    stack.log.filter((line) => line.includes(service) && line.includes(`dependency=${dependency}`));
  await until('the outages to end', () => {
    const [began, ended] = ['outage began', 'outage ended'].map((text) => stack.log.filter((l) => l.includes(text)));
    return began!.length > 0 && began!.length === ended!.length;
  });
  expect(linesOf('orders', 'eventstore')).toEqual([
    expect.stringContaining('outage began'),
    expect.stringContaining('outage ended'),
  ]);
  expect(linesOf('gateway', 'orders')).toEqual([
    expect.stringContaining('outage began'),
    expect.stringMatching(/outage ended.*refused=[1-9]/),
  ]);
  expect(stack.log.filter((line) => !/outage (began|ended)/.test(line))).toEqual([]);
});
