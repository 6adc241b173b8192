import type { ClientBase } from 'pg';

/** The streams that the ways change. */
export interface Target {
  readonly orderId: string;
  readonly order: string;
  /** Of the order, at least one. */
  readonly payments: readonly string[];
  readonly payment: string;
  /** A payment of another order; null if no other order has one. */
  readonly otherPayment: string | null;
  /** The settings of the merchant of the order. */
  readonly settings: string;
  /** How many entries the log had at the checkpoint that somebody keeps. */
  readonly keptSize: number;
}

const PAYMENTS = `
  select stream, convert_from(data, 'utf8')::json ->> 'orderId' as order_id,
         convert_from(data, 'utf8')::json ->> 'merchantId' as merchant_id
    from eventstore.event applied_to
   where left(stream, 8) = 'payment-' and revision = 0
     and exists (select from eventstore.event where stream = applied_to.stream and type = 'PaymentApplied')
   order by position`;

/** Finds the streams around an order that has an applied payment; by default the first such order of the log. Throws if
 *  there is none. */
export const findTarget = async (
  events: ClientBase,
  { orderId: wanted, keptSize }: { readonly orderId?: string | undefined; readonly keptSize: number },
): Promise<Target> => {
  const { rows } = await events.query<{ stream: string; order_id: string; merchant_id: string }>(PAYMENTS);
  const first = rows.find(({ order_id }) => wanted === undefined || order_id === wanted);
  if (!first) throw new Error(wanted === undefined ? 'no payment was applied' : `no payment was applied to ${wanted}`);
  const { order_id: orderId, merchant_id: merchantId } = first;
  return {
    orderId,
    order: `order-${orderId}`,
    payments: rows.filter(({ order_id }) => order_id === orderId).map(({ stream }) => stream),
    payment: first.stream,
    otherPayment: rows.find(({ order_id }) => order_id !== orderId)?.stream ?? null,
    settings: `merchant-${merchantId}`,
    keptSize,
  };
};
