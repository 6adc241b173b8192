import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Order, type OrderStatus, Payment } from '@cpg/contracts';
import type { Answer, Api, Method } from '../harness/api.ts';
import { retryUntilAnswered } from '../harness/retry-until-answered.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { until } from '../harness/until.ts';
import type { Random } from './random.ts';
import { type ExpectedPayment, type OrderActions, SCENARIOS } from './scenarios.ts';

/** The expected state of one order, every step of which was acknowledged. */
export interface Acknowledged {
  readonly reference: string;
  readonly orderId: string;
  readonly scenario: string;
  /** Null after its deletion. */
  readonly status: OrderStatus | null;
  /** By transaction hash. */
  readonly payments: ReadonlyMap<string, ExpectedPayment>;
}

export interface Shoppers {
  readonly count: () => number;
  /** Whether a shopper got an answer that must not occur. Then all shoppers stop. */
  readonly failed: () => boolean;
  /** Starts no new orders and resolves with what was acknowledged. Throws the error of a shopper that failed. */
  readonly stop: () => Promise<readonly Acknowledged[]>;
}

const PAUSE_MS = 50;

/** Starts `count` shoppers that run one scenario after another, chosen by `random`. */
export const startShoppers = (api: Api, { count, random }: { count: number; random: Random }): Shoppers => {
  const acknowledged: Acknowledged[] = [];
  let stopped = false;
  let failed = false;
  const shopper = async () => {
    while (!stopped) {
      acknowledged.push(await runScenario(api, random.pick(Object.keys(SCENARIOS))));
      await sleep(PAUSE_MS);
    }
  };
  const done = Promise.all(Array.from({ length: count }, shopper));
  done.catch(() => {
    stopped = true;
    failed = true; // `stop` throws the error.
  });
  return {
    count: () => acknowledged.length,
    failed: () => failed,
    stop: async () => {
      stopped = true;
      await done;
      return acknowledged;
    },
  };
};

const runScenario = async (api: Api, scenario: string): Promise<Acknowledged> => {
  const reference = randomUUID();
  const post = async (path: string, body?: unknown, onAttempt = () => {}): Promise<Answer> => {
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await retryUntilAnswered(() => {
      onAttempt();
      return api.send('POST', path, { body, headers });
    });
    return expectStatus(201, 'POST', path, answer);
  };
  const created = Order.parse((await post('/v1/orders', orderBody({ external_reference_id: reference }))).body);
  const { id, currency } = created;
  if (created.status === 'initialized') await waitForInstructions(api, id);

  const pay: OrderActions['pay'] = async (amount, outcome = 'confirmed') => {
    const hash = `0x${createHash('sha256').update(randomUUID()).digest('hex')}`;
    const payment = { order_id: id, payment_rail: 'crypto_deposit', amount: String(amount), currency, outcome };
    let attempts = 0;
    const answer = await post('/debug/register-payment', { ...payment, txHash: hash }, () => (attempts += 1));
    const order = Order.parse(answer.body);
    return { hash, id: order.payments.find(({ tx_hash }) => tx_hash === hash)!.id, isRepeated: attempts > 1 };
  };
  const outcome = await SCENARIOS[scenario]!({
    pay,
    confirm: async (payment) => void (await post(`/debug/payments/${payment.id}/confirm`)),
    fail: async (payment) => void (await post(`/debug/payments/${payment.id}/fail`)),
    refund: async (payment, amount) => {
      const body = amount === undefined ? {} : { amount: String(amount) };
      Payment.parse((await post(`/v1/payments/${payment.id}/refund`, body)).body);
    },
    cancel: async () => void (await post(`/v1/orders/${id}/cancel`)),
    expire: () => expire(api, id),
    deleteOrder: () => deleteOrder(api, id),
  });
  const payments = new Map(outcome.payments.map(([{ hash }, payment]) => [hash, payment]));
  return { reference, orderId: id, scenario, status: outcome.status, payments };
};

/** Waits until the order has deposit instructions: it cannot be paid before. */
const waitForInstructions = async (api: Api, id: string): Promise<void> => {
  const path = `/v1/orders/${id}`;
  const read = async () =>
    Order.parse(expectStatus(200, 'GET', path, await retryUntilAnswered(() => api.send('GET', path))).body);
  await until(`the instructions of ${id}`, async () => (await read()).status !== 'initialized', { withinMs: 60_000 });
};

/** Advances the clock past the deadline. If the answer to an earlier request was lost, the order is already closed. */
const expire = async (api: Api, id: string): Promise<void> => {
  const path = `/debug/orders/${id}/advance-time`;
  const answer = await retryUntilAnswered(() => api.send('POST', path, { body: { minutes: 61 } }));
  if (answer.body.code !== 'order_state_conflict') expectStatus(201, 'POST', path, answer);
};

/** Deletes the order. If the answer to an earlier request was lost, the order is already gone. */
const deleteOrder = async (api: Api, id: string): Promise<void> => {
  const path = `/v1/orders/${id}`;
  const answer = await retryUntilAnswered(() => api.send('DELETE', path));
  if (answer.status !== 404) expectStatus(200, 'DELETE', path, answer);
};

const expectStatus = (expected: number, method: Method, path: string, answer: Answer): Answer => {
  if (answer.status !== expected) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
  return answer;
};
