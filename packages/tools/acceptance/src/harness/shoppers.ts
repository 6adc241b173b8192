import { randomUUID } from 'node:crypto';
import { Order } from '@cpg/contracts';
import { type Answer, type Api, retryUntilAnswered } from './api.ts';
import { orderBody } from './order-bodies.ts';

/** An order whose creation and payment were acknowledged. */
export interface Purchase {
  readonly reference: string;
  /** The answer to the payment. */
  readonly order: Order;
}

export interface Shoppers<T> {
  /** What their visits returned so far. */
  readonly visits: readonly T[];
  /** Whether a visit failed. Then all shoppers stop. */
  readonly failed: () => boolean;
  /** Starts no new visits. Resolves with all visits once those in progress are done; throws the error of a failed
   *  one. */
  readonly stop: () => Promise<readonly T[]>;
}

/** Starts `count` shoppers, each with one visit after another. */
export const startShoppers = <T>(count: number, visit: () => Promise<T>): Shoppers<T> => {
  const visits: T[] = [];
  let stopped = false;
  let failed = false;
  const shopper = async () => {
    while (!stopped) visits.push(await visit());
  };
  const done = Promise.all(Array.from({ length: count }, shopper));
  done.catch(() => {
    stopped = true;
    failed = true; // `stop` throws the error.
  });
  return {
    visits,
    failed: () => failed,
    stop: async () => {
      stopped = true;
      await done;
      return visits;
    },
  };
};

/** Creates and pays an order, and retries until it gets an answer. */
export const purchase = async (api: Api): Promise<Purchase> => {
  const reference = randomUUID();
  const body = orderBody({ external_reference_id: reference });
  const headers = { 'idempotency-key': reference };
  const created = accepted(await retryUntilAnswered(() => api.send('POST', '/v1/orders', { body, headers })));
  const payment = {
    order_id: created.id,
    payment_rail: 'crypto_deposit',
    amount: created.total_amount,
    currency: created.currency,
    txHash: `0x${reference.replaceAll('-', '')}`,
  };
  const order = accepted(
    await retryUntilAnswered(() => api.send('POST', '/debug/register-payment', { body: payment })),
  );
  return { reference, order };
};

const accepted = ({ status, body, text }: Answer): Order => {
  if (status !== 201) throw new Error(`refused with ${status}: ${text}`);
  return Order.parse(body);
};
