import { randomUUID } from 'node:crypto';
import { Order } from '@cpg/contracts';
import type { Answer, Api } from './api.ts';
import { retryUntilAnswered } from './retry-until-answered.ts';
import { orderBody } from './order-bodies.ts';

/** An order whose creation and payment were acknowledged. */
export interface Purchase {
  readonly reference: string;
  /** The answer to the payment. */
  readonly order: Order;
}

export interface Shoppers {
  readonly purchases: readonly Purchase[];
  /** Starts no new purchases. */
  readonly stop: () => void;
  /** Resolves with all purchases once those in progress are done. */
  readonly finished: () => Promise<readonly Purchase[]>;
}

/** Starts shoppers that create and pay one order after another and retry until they get an answer. */
export const startShoppers = (api: Api, { count }: { count: number }): Shoppers => {
  const purchases: Purchase[] = [];
  let stopped = false;
  const shopper = async () => {
    while (!stopped) purchases.push(await purchase(api));
  };
  const done = Promise.all(Array.from({ length: count }, shopper));
  // `finished` reports the error.
  done.catch(() => {});
  return {
    purchases,
    stop: () => {
      stopped = true;
    },
    finished: async () => {
      await done;
      return purchases;
    },
  };
};

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
