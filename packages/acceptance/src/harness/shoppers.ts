import { randomUUID } from 'node:crypto';
import { Order } from '@cpg/contracts';
import type { Answer, Api } from './api.ts';
import { insist } from './insist.ts';
import { orderBody } from './order-bodies.ts';

/** An order that was created and paid, both acknowledged. */
export interface Purchase {
  readonly reference: string;
  /** As the payment was answered. */
  readonly order: Order;
}

export interface Shoppers {
  readonly purchases: readonly Purchase[];
  /** No new purchases. Those that run go on, and `all` waits for them. */
  readonly leave: () => void;
  readonly all: () => Promise<readonly Purchase[]>;
}

/** Shoppers who create orders and pay them, one after another each, insisting on every answer. */
export const sendShoppers = (api: Api, { count }: { count: number }): Shoppers => {
  const purchases: Purchase[] = [];
  let open = true;
  const shopper = async () => {
    while (open) purchases.push(await purchase(api));
  };
  const done = Promise.all(Array.from({ length: count }, shopper));
  // Whoever asks for `all` hears of it.
  done.catch(() => {});
  return {
    purchases,
    leave: () => {
      open = false;
    },
    all: async () => {
      await done;
      return purchases;
    },
  };
};

export const purchase = async (api: Api): Promise<Purchase> => {
  const reference = randomUUID();
  const body = orderBody({ external_reference_id: reference });
  const headers = { 'idempotency-key': reference };
  const created = accepted(await insist(() => api.send('POST', '/v1/orders', { body, headers })));
  const payment = {
    order_id: created.id,
    payment_rail: 'crypto_deposit',
    amount: created.total_amount,
    currency: created.currency,
    txHash: `0x${reference.replaceAll('-', '')}`,
  };
  const order = accepted(await insist(() => api.send('POST', '/debug/register-payment', { body: payment })));
  return { reference, order };
};

const accepted = ({ status, body, text }: Answer): Order => {
  if (status !== 201) throw new Error(`refused with ${status}: ${text}`);
  return Order.parse(body);
};
