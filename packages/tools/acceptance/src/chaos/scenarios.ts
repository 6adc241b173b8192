import { createHash, randomUUID } from 'node:crypto';
import { Order, type OrderStatus, Payment, type PaymentStatus } from '@cpg/contracts';
import { type Answer, type Api, type Method, retryUntilAnswered } from '../harness/api.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { until } from '../harness/until.ts';

/** The expected state of a payment. Amounts in whole USDT. */
export interface ExpectedPayment {
  readonly paid: number;
  readonly status: PaymentStatus;
  readonly applied?: number;
  readonly unapplied?: number;
  readonly refunded?: number;
}

/** What a merchant and a payer do with one order of 10 USDT. Each action retries until it is answered. */
interface OrderActions {
  readonly pay: (amount: number, outcome?: 'confirmed' | 'pending') => Promise<ReportedPayment>;
  readonly confirm: (payment: ReportedPayment) => Promise<void>;
  readonly fail: (payment: ReportedPayment) => Promise<void>;
  readonly refund: (payment: ReportedPayment, amount?: number) => Promise<void>;
  readonly cancel: () => Promise<void>;
  readonly expire: () => Promise<void>;
  readonly deleteOrder: () => Promise<void>;
}

interface ReportedPayment {
  readonly hash: string;
  readonly id: string;
  /** It took several attempts.
   *  One without an answer can still take effect, when a frozen process resumes.
   *  If the payment has failed by then, it is received again. */
  readonly isRepeated: boolean;
}

/** The expected state of an order after a scenario. */
interface Outcome {
  /** Null after its deletion. */
  readonly status: OrderStatus | null;
  readonly payments: readonly (readonly [ReportedPayment, ExpectedPayment])[];
}

const paidBy = (payment: ReportedPayment): Outcome => ({
  status: 'paid',
  payments: [[payment, { paid: 10, status: 'applied', applied: 10 }]],
});

export const SCENARIOS: Record<string, (actions: OrderActions) => Promise<Outcome>> = {
  'paid at once': async ({ pay }) => paidBy(await pay(10)),
  'paid in two parts': async ({ pay }) => {
    const [part, rest] = [await pay(4), await pay(6)];
    return {
      status: 'paid',
      payments: [
        [part, { paid: 4, status: 'applied', applied: 4 }],
        [rest, { paid: 6, status: 'applied', applied: 6 }],
      ],
    };
  },
  'overpaid and the surplus refunded': async ({ pay, refund }) => {
    const much = await pay(12);
    await refund(much, 2);
    return { status: 'paid', payments: [[much, { paid: 12, status: 'applied', applied: 10, refunded: 2 }]] };
  },
  'paid twice, the second payment refunded': async ({ pay, refund }) => {
    const [once, twice] = [await pay(10), await pay(10)];
    await refund(twice);
    return {
      status: 'paid',
      payments: [
        [once, { paid: 10, status: 'applied', applied: 10 }],
        [twice, { paid: 10, status: 'refunded', refunded: 10 }],
      ],
    };
  },
  'paid and refunded in two parts': async ({ pay, refund }) => {
    const all = await pay(10);
    await refund(all, 4);
    await refund(all);
    return { status: 'reversed', payments: [[all, { paid: 10, status: 'refunded', refunded: 10 }]] };
  },
  'confirmed late': async ({ pay, confirm }) => {
    const seen = await pay(10, 'pending');
    await confirm(seen);
    return paidBy(seen);
  },
  'dropped and paid again': async ({ pay, confirm, fail }) => {
    const seen = await pay(10, 'pending');
    if (seen.isRepeated) {
      await confirm(seen);
      return paidBy(seen);
    }
    await fail(seen);
    const again = await pay(10);
    return {
      status: 'paid',
      payments: [
        [seen, { paid: 10, status: 'failed' }],
        [again, { paid: 10, status: 'applied', applied: 10 }],
      ],
    };
  },
  'reversed by a reorganization': async ({ pay, fail }) => {
    const all = await pay(10);
    if (all.isRepeated) return paidBy(all);
    await fail(all);
    return { status: 'reversed', payments: [[all, { paid: 10, status: 'failed' }]] };
  },
  'canceled after a partial payment': async ({ pay, cancel }) => {
    const part = await pay(4);
    await cancel();
    return { status: 'canceled', payments: [[part, { paid: 4, status: 'orphan' }]] };
  },
  'expired and paid late': async ({ pay, expire }) => {
    await expire();
    const late = await pay(10);
    return { status: 'expired', payments: [[late, { paid: 10, status: 'orphan' }]] };
  },
  deleted: async ({ expire, deleteOrder }) => {
    await expire();
    await deleteOrder();
    return { status: null, payments: [] };
  },
};

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

/** Runs a scenario until all its steps are answered. */
export const runScenario = async (api: Api, scenario: string): Promise<Acknowledged> => {
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
      const body = amount === undefined ? { what: 'all' } : { amount: String(amount) };
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
  await until(`the instructions of ${id}`, async () => (await read()).status !== 'initialized');
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
