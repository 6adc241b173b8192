import { decimalsIn, type Payment } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { ListQuery, TimeRanges } from '../lists/list-query.ts';
import { createdUntil, oneOrSeveral, type Page, selectResources, spellings, timeFilters } from '../lists/page.ts';
import { ofMerchant } from '../orders/order-search.ts';

/** The times of a payment by which lists filter. */
const PAYMENT_TIMES = ['applied', 'refunded', 'failed', 'updated'] as const;

export interface PaymentFilters extends TimeRanges<(typeof PAYMENT_TIMES)[number]> {
  readonly status?: readonly string[] | undefined;
  readonly currency?: string | undefined;
  readonly payment_rail?: string | undefined;
  readonly order_id?: string | undefined;
  readonly due_back?: boolean | undefined;
  readonly external_reference_id?: string | undefined;
  readonly payment_reference?: string | undefined;
  readonly tx_hash?: string | undefined;
}

export const listPayments = async (
  db: Queryable,
  merchantId: string,
  {
    status,
    currency,
    payment_rail,
    order_id,
    due_back,
    external_reference_id,
    payment_reference,
    tx_hash,
    ...list
  }: ListQuery & PaymentFilters,
): Promise<Page<Payment>> =>
  selectResources<Payment>(db, {
    table: 'payments.api_payments',
    owner: ['merchant_id', merchantId],
    only: 'not deleted',
    filters: [
      ['status', oneOrSeveral(status)],
      ...Object.entries({ currency, payment_rail, order_id, due_back }),
      ['external_reference_id', external_reference_id, ofOrders('order', 'external_reference_id')],
      ['payment_reference', payment_reference, ofOrders('payable', 'reference')],
      ['tx_hash', tx_hash && spellings(tx_hash, tx_hash.toLowerCase())],
      ...PAYMENT_TIMES.flatMap((name) => timeFilters(name, list)),
    ],
    list: createdUntil(list, [list.applied_to, list.refunded_to, list.failed_to, list.updated_to]),
    counts: { name: 'payments.api_payment_counts', keys: ['status', 'currency', 'payment_rail', 'due_back'] },
  });

const ofOrders = (from: 'order' | 'payable', column: string) => (place: string, owner: string) =>
  `order_id = any(array(${ofMerchant(from, owner, `${column} = ${place}`)}))`;

/** The decimals of the amounts of these payments, without those that are deleted. */
export const decimalsOfPayments = async (db: Queryable, ids: readonly string[]): Promise<Map<string, number>> => {
  const { rows } = await db.query<{ id: string; paid_amount: string }>(
    "select id, resource ->> 'paid_amount' as paid_amount from payments.api_payments where id = any($1) and not deleted",
    [ids],
  );
  return new Map(rows.map(({ id, paid_amount }) => [id, decimalsIn(paid_amount)]));
};

/** The merchant of a payment; null when the payment does not exist or is deleted. */
export const merchantIdOfPayment = async (db: Queryable, id: string): Promise<string | null> => {
  const { rows } = await db.query<{ merchant_id: string }>(
    'select merchant_id from payments.api_payments where id = $1 and not deleted',
    [id],
  );
  return rows[0]?.merchant_id ?? null;
};

export const paymentById = async (db: Queryable, merchantId: string, id: string): Promise<Payment | null> => {
  const { rows } = await db.query<{ resource: Payment }>(
    'select resource from payments.api_payments where id = $1 and merchant_id = $2 and not deleted',
    [id, merchantId],
  );
  return rows[0]?.resource ?? null;
};
