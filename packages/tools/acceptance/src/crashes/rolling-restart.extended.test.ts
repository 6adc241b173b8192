import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Order } from '@cpg/contracts';
import type { Answer, Method } from '../harness/api.ts';
import { type KafkaLog, readKafkaLog } from '../harness/kafka-log.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const HOOK = '/hook';
const SERVICES = ['orders', 'gateway', 'payments', 'webhook-dispatcher-1'];

let stack: Stack;
let shop: Shop;
let receiver: Receiver;
let kafka: KafkaLog;

beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack({ dispatchers: 2 }), startReceiver()]);
  [shop, kafka] = await Promise.all([openShop(stack), readKafkaLog(stack.kafkaBrokers)]);
  const webhook = await shop.api.createWebhook({ url: receiver.urlOf(HOOK), events: ['order:paid'] });
  await shop.api.updateWebhook(webhook.id, { is_enabled: true });
});

afterAll(async () => {
  await shop?.api.close();
  await kafka?.close().catch(() => {});
  await stack?.stop();
  await receiver?.close();
});

/** How long services wait for one that restarts. A client sees a 503 only if the restart takes longer. */
const PATIENCE_MS = 8_000;
const unavailable: string[] = [];

/** Repeats a refused connection, on which nothing was sent. Records a 503, and repeats it with its key, as the API asks.
 *  Throws for any other refusal. */
const send = async (method: Method, path: string, body?: object): Promise<Answer> => {
  const headers = { 'idempotency-key': randomUUID() };
  for (;;) {
    try {
      const answer = await shop.api.send(method, path, { headers, body });
      if (answer.status < 300) return answer;
      if (answer.status !== 503) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
      unavailable.push(`${method} ${path}: ${answer.text}`);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ECONNREFUSED') throw error;
    }
    await sleep(20);
  }
};

const startBuyers = (count: number) => {
  const bought: Order[] = [];
  let stopped = false;
  const buyer = async () => {
    while (!stopped) {
      const { id, total_amount: amount, currency } = Order.parse((await send('POST', '/v1/orders', orderBody())).body);
      // `/debug` takes no idempotency key: by the hash, a repeated report is of the same payment.
      const txHash = `0x${randomBytes(32).toString('hex')}`;
      const payment = { order_id: id, payment_rail: 'gateway_pay', amount, currency, txHash };
      const paid = Order.parse((await send('POST', '/debug/register-payment', payment)).body);
      expect((await send('GET', `/v1/orders/${id}`)).body).toEqual(paid);
      expect(paid).toMatchObject({ status: 'paid', payments: [{ paid_amount: amount }] });
      expect(paid.payments).toHaveLength(1);
      bought.push(paid);
    }
  };
  const done = Promise.all(Array.from({ length: count }, buyer));
  let failure: Error | undefined;
  done.catch((error: Error) => (failure = error));
  return {
    bought,
    /** Waits for so many more purchases. Throws when a buyer failed. */
    waitFor: async (more: number) => {
      const before = bought.length;
      await until('purchases', () => failure !== undefined || bought.length >= before + more);
      if (failure !== undefined) throw failure;
    },
    stop: async () => {
      stopped = true;
      await done;
      return bought;
    },
  };
};

test('restarting every service twice under load fails no request of a client that repeats refused ones', async () => {
  let slowestMs = 0;
  const buyers = startBuyers(6);
  await buyers.waitFor(6);
  for (const name of [...SERVICES, ...SERVICES]) {
    const startedAt = performance.now();
    await stack.kill(name, 'SIGTERM');
    await buyers.waitFor(12);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
  if (slowestMs < PATIENCE_MS) expect(unavailable).toEqual([]);
  const bought = await buyers.stop();
  const endings = stack.log.filter((line) => / (exited with|was killed by|did not stop) /.test(line));
  expect(endings).toHaveLength(2 * SERVICES.length);
  for (const line of endings) expect(line).toContain('exited with code 0');

  for (const { id } of bought) {
    const messages = await kafka.waitFor(id, (all) => all.at(-1)?.type === 'order.paid');
    expect(messages.map(({ sequence }) => Number(sequence))).toEqual(messages.map((_, index) => index));
  }
  const notified = () => new Set(receiver.attemptsOn(HOOK).map(({ rawBody }) => JSON.parse(rawBody).data.id as string));
  await until('the webhooks of all orders', () => bought.every(({ id }) => notified().has(id)));
});
