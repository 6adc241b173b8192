import type { Order, PaymentPageSettings, Refund } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { SETTINGS_COLUMNS, settingsFromRow, type SettingsRow } from '../../api/payment-page/payment-page-settings.ts';

/** The values of the rows of an order and its merchant that its page needs. */
export interface CheckoutOrder {
  readonly order: Order;
  /** Of the order's row. */
  readonly revision: number;
  readonly settings: PaymentPageSettings;
}

interface CheckoutOrderRow extends SettingsRow {
  readonly id: string;
  /** Null once the order is deleted. */
  readonly resource: Order | null;
  readonly revision: string;
}

const COLUMNS = `o.id, o.resource, o.revision, ${SETTINGS_COLUMNS}`;
const MERCHANT = `join gateway.merchants m on m.id = o.merchant_id
  left join gateway.payment_page_settings s on s.merchant_id = m.id`;

/** Null if there is no such order, or it is deleted. */
export const checkoutOrder = async (
  db: Queryable,
  merchantId: string,
  orderId: string,
): Promise<CheckoutOrder | null> => {
  const { rows } = await db.query<CheckoutOrderRow>({
    name: 'checkout-order',
    text: `select ${COLUMNS} from orders.api_orders o ${MERCHANT}
           where o.id = $1 and o.merchant_id = $2 and not o.deleted`,
    values: [orderId, merchantId],
  });
  return rows[0] ? fromRow(rows[0]) : null;
};

/** The orders whose row has another revision than the known one; null for a deleted order. */
export const changedCheckoutOrders = async (
  db: Queryable,
  known: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, CheckoutOrder | null>> => {
  const { rows } = await db.query<CheckoutOrderRow>({
    name: 'changed-checkout-orders',
    text: `select ${COLUMNS} from unnest($1::text[], $2::bigint[]) as known (id, revision)
           join orders.api_orders o on o.id = known.id ${MERCHANT} where o.revision <> known.revision`,
    values: [[...known.keys()], [...known.values()]],
  });
  return new Map(rows.map((row) => [row.id, fromRow(row)]));
};

const fromRow = (row: CheckoutOrderRow): CheckoutOrder | null =>
  row.resource && { order: row.resource, revision: Number(row.revision), settings: settingsFromRow(row) };

/** A transfer by its network and its id there. */
export interface TransferRef {
  readonly network: string;
  readonly id: string;
}

export interface TransferDepth extends TransferRef {
  readonly confirmations: number;
  readonly required: number | null;
}

/** Confirmations of transfers, counted from the last block that payments read. */
export const transferDepths = async (db: Queryable, refs: readonly TransferRef[]): Promise<TransferDepth[]> => {
  if (refs.length === 0) return [];
  const { rows } = await db.query<TransferRef & { confirmations: string; required: number | null }>({
    name: 'transfer-depths',
    text: `select network, id, required,
             case when transfer.height is null then 0 else greatest(0, cursor.height - transfer.height + 1) end as confirmations
           from unnest($1::text[], $2::text[]) as wanted (network, id)
           join payments.api_transfers as transfer using (network, id)
           join payments.api_chains as cursor using (network)`,
    values: [refs.map(({ network }) => network), refs.map(({ id }) => id)],
  });
  return rows.map((row) => ({ ...row, confirmations: Number(row.confirmations) }));
};

/** A refund that waits for its transfer, or for the end of it. */
export interface UnsettledRefund {
  /** Of the claim link that the page shows, while the refund waits for an address of the payer; else null. */
  readonly hash: string | null;
  readonly refund: Refund;
}

/** The refunds of an order that are not settled, oldest first. */
export const unsettledRefunds = async (
  db: Queryable,
  merchantId: string,
  orderId: string,
): Promise<UnsettledRefund[]> => {
  const { rows } = await db.query<UnsettledRefund>({
    name: 'unsettled-refunds',
    text: `select page_claim as hash, resource as refund from payments.api_refunds
           where order_id = $2 and merchant_id = $1 and status in ('pending', 'sent') order by created_at, id`,
    values: [merchantId, orderId],
  });
  return rows;
};

/** How far each watched network was read. Confirmations grow with it. */
export const chainHeights = async (db: Queryable): Promise<string> => {
  const { rows } = await db.query<{ heights: string | null }>({
    name: 'chain-heights',
    text: `select string_agg(network || ' ' || coalesce(height::text, ''), ',' order by network) as heights
           from payments.api_chains`,
  });
  return rows[0]?.heights ?? '';
};
