import { setTimeout as sleep } from 'node:timers/promises';
import { Order } from '@cpg/contracts';
import type { Answer, Method, SendOptions } from '../harness/api.ts';
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

/** Retries only refused connections, on which nothing was sent. Throws for any answer but success. */
const send = async (method: Method, path: string, options?: SendOptions): Promise<Answer> => {
  for (;;) {
    try {
      const answer = await shop.api.send(method, path, options);
      if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
      return answer;
    } catch (error) {
      if ((error as { code?: string }).code !== 'ECONNREFUSED') throw error;
      await sleep(20);
    }
  }
};

const startBuyers = (count: number) => {
  const bought: Order[] = [];
  let stopped = false;
  const buyer = async () => {
    while (!stopped) {
      const {
        id,
        total_amount: amount,
        currency,
      } = Order.parse((await send('POST', '/v1/orders', { body: orderBody() })).body);
      const payment = { order_id: id, payment_rail: 'gateway_pay', amount, currency };
      const paid = Order.parse((await send('POST', '/debug/register-payment', { body: payment })).body);
      expect((await send('GET', `/v1/orders/${id}`)).body).toEqual(paid);
      expect(paid.status).toBe('paid');
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

test('restarting every service twice under load fails no request of a client that retries refused connections', async () => {
  const buyers = startBuyers(6);
  await buyers.waitFor(6);
  for (const name of [...SERVICES, ...SERVICES]) {
    await stack.kill(name, 'SIGTERM');
    await buyers.waitFor(12);
  }
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
