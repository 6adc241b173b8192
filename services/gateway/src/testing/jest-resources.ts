import {
  type Availability,
  Currencies,
  exampleOf,
  MerchantCreateOrderDto,
  metadataHashes,
  Order,
  Payment,
  PaymentCurrency,
  PaymentRail,
  Refund,
  type SettlementLine,
} from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { errorResponse, type StubCall } from './jest-stub-service.ts';

/** The body of a valid request to create an order. */
export const orderBody = (more: Partial<MerchantCreateOrderDto> = {}): MerchantCreateOrderDto => ({
  ...exampleOf(MerchantCreateOrderDto),
  ...more,
});

export const orderOf = (id: string, merchantId: string, more: Partial<Order> = {}): Order => ({
  ...exampleOf(Order),
  id,
  merchant_id: merchantId,
  ...more,
});

export const paymentOf = (id: string, merchantId: string, more: Partial<Payment> = {}): Payment => ({
  ...exampleOf(Payment),
  id,
  merchant_id: merchantId,
  ...more,
});

export const refundOf = (id: string, merchantId: string, more: Partial<Refund> = {}): Refund => ({
  ...exampleOf(Refund),
  id,
  merchant_id: merchantId,
  ...more,
});

/** The response of orders to a successful command. It knows no order outside the read model. */
export const ordersResponse = ({ method, path, body }: StubCall) => {
  if (path.endsWith('/summary')) return errorResponse(404, 'not_found');
  if (path === '/currencies') {
    const { payment_currencies } = exampleOf(Currencies);
    return { status: 200, body: { payment_currencies } };
  }
  const { order_id, merchant_id } = body as { order_id?: string; merchant_id: string };
  const id = order_id ?? path.split('/')[2] ?? '';
  if (method === 'DELETE') return { status: 200, body: { id, deleted: true } };
  return { status: order_id ? 201 : 200, body: orderOf(id, merchant_id) };
};

/** The response of payments to a gateway whose merchants have no payments. Every currency can be paid with. */
export const paymentsResponse = ({ path }: StubCall) => {
  if (path !== '/availability') return errorResponse(404, 'not_found');
  const all = Object.fromEntries(PaymentRail.options.map((rail) => [rail, PaymentCurrency.options]));
  return { status: 200, body: availabilityOf(all as Record<PaymentRail, PaymentCurrency[]>) };
};

/** The availability in which these currencies can be paid with, and no other. */
export const availabilityOf = (
  currencies: Readonly<Record<PaymentRail, readonly PaymentCurrency[]>>,
): Availability => ({
  networks: {},
  offers: Object.fromEntries(
    Object.entries(currencies).map(([rail, available]) => [
      rail,
      PaymentCurrency.options.map((currency) => ({
        currency,
        is_available: available.includes(currency),
        minimum_amount: '0',
        networks: [],
      })),
    ]),
  ) as unknown as Availability['offers'],
});

/** The response of the payments service to a refund. */
export const refundResponse = ({ path, body }: StubCall) => {
  const { merchant_id } = body as { merchant_id: string };
  return { status: 200, body: { payment: paymentOf(path.split('/')[2]!, merchant_id), order: null } };
};

/** Inserts an order into the read model, as the orders service does. */
export const projectOrder = async (pool: Queryable, order: Order): Promise<void> => {
  await pool.query(
    `insert into orders.orders (id, merchant_id, external_reference_id, status, currency, created_at, revision, resource,
       last_event_at, total_amount, metadata_hashes)
     values ($1, $2, $3, $4, $5, $6, 0, $7, $8, $9, $10)`,
    [
      ...[order.id, order.merchant_id, order.external_reference_id, order.status, order.currency, order.created_at],
      ...[order, order.updated_at, order.total_amount, metadataHashes(order.metadata ?? {}).join(' ')],
    ],
  );
};

/** Inserts a payment into the read model of the payments service. */
export const projectPayment = async (pool: Queryable, payment: Payment): Promise<void> => {
  await pool.query(
    `insert into payments.payments (id, merchant_id, order_id, status, currency, payment_rail, due_back, created_at, revision, resource, applied_at,
       refunded_at, failed_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $11, $12, $13)`,
    [
      payment.id,
      payment.merchant_id,
      payment.order_id,
      payment.status,
      payment.currency,
      payment.payment_rail,
      payment.due_back_amount !== undefined,
      payment.created_at,
      payment,
      payment.applied_at,
      payment.refunded_at,
      payment.failed_at,
      payment.updated_at,
    ],
  );
};

/** Inserts a refund into the read model of the payments service. */
export const projectPosting = async (
  pool: Queryable,
  { id, merchant_id, booked_at, ...line }: SettlementLine,
  paymentCreatedAt = booked_at,
): Promise<void> => {
  const { payment_id, order_id, currency, account, amount, event, refund_id, tx_hash } = line;
  await pool.query(
    `insert into payments.postings (id, payment_id, merchant_id, order_id, currency, account, amount, event, refund_id, tx_hash,
       payment_created_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[id, payment_id, merchant_id, order_id, currency, account, amount, event, refund_id, tx_hash],
      ...[paymentCreatedAt, booked_at],
    ],
  );
};

export const projectRefund = async (pool: Queryable, refund: Refund): Promise<void> => {
  await pool.query(
    `insert into payments.refunds (id, payment_id, merchant_id, order_id, currency, status, created_at, ended_at, resource)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      refund.id,
      refund.payment_id,
      refund.merchant_id,
      refund.order_id,
      refund.currency,
      refund.status,
      refund.created_at,
      refund.status === 'recorded' ? refund.created_at : refund.settled_at,
      refund,
    ],
  );
};
