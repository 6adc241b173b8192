import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Order, type OrderStatus, Payment, type PaymentStatus } from '@cpg/contracts';
import type { Answer, Api, Method } from '../harness/api.ts';
import { insist } from '../harness/insist.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { until } from '../harness/until.ts';
import type { Random } from './random.ts';

/** What has to be true of one order for good, since every step towards it was acknowledged. */
export interface Acknowledged {
  readonly reference: string;
  readonly orderId: string;
  readonly story: string;
  /** Null once it was deleted. */
  readonly status: OrderStatus | null;
  /** By the hash that each was paid with. */
  readonly payments: ReadonlyMap<string, Stands>;
}

/** How a payment stands. Amounts in whole USDT. */
export interface Stands {
  readonly paid: number;
  readonly status: PaymentStatus;
  readonly applied?: number;
  readonly unapplied?: number;
  readonly refunded?: number;
}

/** All that a merchant and its payer do with one order of 10 USDT, insisting on every answer. */
interface Visit {
  readonly pay: (amount: number, outcome?: 'confirmed' | 'pending') => Promise<Paid>;
  readonly confirm: (payment: Paid) => Promise<void>;
  readonly fail: (payment: Paid) => Promise<void>;
  readonly refund: (payment: Paid, amount?: number) => Promise<void>;
  readonly cancel: () => Promise<void>;
  readonly letExpire: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

interface Paid {
  readonly hash: string;
  readonly id: string;
}

type Ending = { readonly status: OrderStatus | null; readonly payments: readonly (readonly [Paid, Stands])[] };

const STORIES: Record<string, (visit: Visit) => Promise<Ending>> = {
  'paid at once': async ({ pay }) => {
    const all = await pay(10);
    return { status: 'paid', payments: [[all, { paid: 10, status: 'applied', applied: 10 }]] };
  },
  'paid in two parts': async ({ pay }) => {
    const [some, rest] = [await pay(4), await pay(6)];
    return {
      status: 'paid',
      payments: [
        [some, { paid: 4, status: 'applied', applied: 4 }],
        [rest, { paid: 6, status: 'applied', applied: 6 }],
      ],
    };
  },
  'overpaid, and the surplus refunded': async ({ pay, refund }) => {
    const much = await pay(12);
    await refund(much, 2);
    return { status: 'paid', payments: [[much, { paid: 12, status: 'applied', applied: 10, refunded: 2 }]] };
  },
  'paid twice': async ({ pay, refund }) => {
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
  'paid, and refunded in two parts': async ({ pay, refund }) => {
    const all = await pay(10);
    await refund(all, 4);
    await refund(all);
    return { status: 'reversed', payments: [[all, { paid: 10, status: 'refunded', refunded: 10 }]] };
  },
  'confirmed late': async ({ pay, confirm }) => {
    const seen = await pay(10, 'pending');
    await confirm(seen);
    return { status: 'paid', payments: [[seen, { paid: 10, status: 'applied', applied: 10 }]] };
  },
  'dropped, and paid again': async ({ pay, fail }) => {
    const seen = await pay(10, 'pending');
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
  'taken back by the chain': async ({ pay, fail }) => {
    const all = await pay(10);
    await fail(all);
    return { status: 'reversed', payments: [[all, { paid: 10, status: 'failed' }]] };
  },
  'canceled with money on it': async ({ pay, cancel }) => {
    const some = await pay(4);
    await cancel();
    return { status: 'canceled', payments: [[some, { paid: 4, status: 'orphan' }]] };
  },
  'expired, and paid late': async ({ pay, letExpire }) => {
    await letExpire();
    const late = await pay(10);
    return { status: 'expired', payments: [[late, { paid: 10, status: 'orphan' }]] };
  },
  deleted: async ({ letExpire, remove }) => {
    await letExpire();
    await remove();
    return { status: null, payments: [] };
  },
};

export interface Shoppers {
  readonly count: () => number;
  /** Whether one of them met what no careful client may ever meet: then no more come. */
  readonly gaveUp: () => boolean;
  /** No new orders; resolves to what was acknowledged once those that run are done. Throws what made one of them give up. */
  readonly leave: () => Promise<readonly Acknowledged[]>;
}

const REST_MS = 50;

/** So many at a time, each with one order after another. `random` chooses their stories. */
export const sendShoppers = (api: Api, { count, random }: { count: number; random: Random }): Shoppers => {
  const acknowledged: Acknowledged[] = [];
  let open = true;
  let gaveUp = false;
  const shopper = async () => {
    while (open) {
      acknowledged.push(await visit(api, random.pick(Object.keys(STORIES))));
      await sleep(REST_MS);
    }
  };
  const done = Promise.all(Array.from({ length: count }, shopper));
  done.catch(() => {
    open = false;
    gaveUp = true; // Whoever calls `leave` hears why.
  });
  return {
    count: () => acknowledged.length,
    gaveUp: () => gaveUp,
    leave: async () => {
      open = false;
      await done;
      return acknowledged;
    },
  };
};

const visit = async (api: Api, story: string): Promise<Acknowledged> => {
  const reference = randomUUID();
  const post = async (path: string, body?: unknown): Promise<Answer> => {
    const headers = { 'idempotency-key': randomUUID() };
    return accepted(201, 'POST', path, await insist(() => api.send('POST', path, { body, headers })));
  };
  const created = Order.parse((await post('/v1/orders', orderBody({ external_reference_id: reference }))).body);
  const { id, currency } = created;
  if (created.status === 'initialized') await instructed(api, id);

  const pay: Visit['pay'] = async (amount, outcome = 'confirmed') => {
    const hash = `0x${createHash('sha256').update(randomUUID()).digest('hex')}`;
    const payment = { order_id: id, payment_rail: 'crypto_deposit', amount: String(amount), currency, outcome };
    const order = Order.parse((await post('/debug/register-payment', { ...payment, txHash: hash })).body);
    return { hash, id: order.payments.find(({ tx_hash }) => tx_hash === hash)!.id };
  };
  const ending = await STORIES[story]!({
    pay,
    confirm: async (payment) => void (await post(`/debug/payments/${payment.id}/confirm`)),
    fail: async (payment) => void (await post(`/debug/payments/${payment.id}/fail`)),
    refund: async (payment, amount) => {
      const body = amount === undefined ? {} : { amount: String(amount) };
      Payment.parse((await post(`/v1/payments/${payment.id}/refund`, body)).body);
    },
    cancel: async () => void (await post(`/v1/orders/${id}/cancel`)),
    letExpire: () => letExpire(api, id),
    remove: () => remove(api, id),
  });
  const payments = new Map(ending.payments.map(([{ hash }, stands]) => [hash, stands]));
  return { reference, orderId: id, story, status: ending.status, payments };
};

/** Nobody can pay an order that does not say yet where to. */
const instructed = async (api: Api, id: string): Promise<void> => {
  const path = `/v1/orders/${id}`;
  const look = async () => Order.parse(accepted(200, 'GET', path, await insist(() => api.send('GET', path))).body);
  await until(`the instructions of ${id}`, async () => (await look()).status !== 'initialized', { withinMs: 60_000 });
};

/** The clock moves again with each request: once one has come through, though its answer got lost, the order is not open any more. */
const letExpire = async (api: Api, id: string): Promise<void> => {
  const path = `/debug/orders/${id}/advance-time`;
  const answer = await insist(() => api.send('POST', path, { body: { minutes: 61 } }));
  if (answer.body.code !== 'order_state_conflict') accepted(201, 'POST', path, answer);
};

/** An order that is gone was deleted by a request whose answer got lost. */
const remove = async (api: Api, id: string): Promise<void> => {
  const path = `/v1/orders/${id}`;
  const answer = await insist(() => api.send('DELETE', path));
  if (answer.status !== 404) accepted(200, 'DELETE', path, answer);
};

const accepted = (expected: number, method: Method, path: string, answer: Answer): Answer => {
  if (answer.status !== expected)
    throw new Error(`${method} ${path} was refused with ${answer.status}: ${answer.text}`);
  return answer;
};
