import type { Refund } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';

/** A refund of the read model. Its columns are written before a command is answered. */
export interface RefundRow {
  readonly id: string;
  readonly paymentId: string;
  readonly amountMinor: bigint;
  /** Of the minor units. */
  readonly decimals: number;
  /** Null unless it was requested. */
  readonly network: string | null;
  readonly asset: string | null;
  /** Null before it has a destination. */
  readonly destination: string | null;
  readonly senders: readonly string[];
  readonly afterHeight: number;
  readonly transferId: string | null;
  /** Of its claim link. */
  readonly isClaimOnPage: boolean;
  readonly resource: Refund;
}

interface Row {
  readonly id: string;
  readonly payment_id: string;
  readonly amount_minor: string;
  readonly decimals: number;
  readonly network: string | null;
  readonly asset: string | null;
  readonly destination: string | null;
  readonly senders: string[] | null;
  readonly after_height: string | null;
  readonly transfer_id: string | null;
  readonly claim_on_page: boolean | null;
  readonly resource: Refund;
}

const rowOf = (row: Row): RefundRow => ({
  id: row.id,
  paymentId: row.payment_id,
  amountMinor: BigInt(row.amount_minor),
  decimals: row.decimals,
  network: row.network,
  asset: row.asset,
  destination: row.destination,
  senders: row.senders ?? [],
  afterHeight: Number(row.after_height),
  transferId: row.transfer_id,
  isClaimOnPage: row.claim_on_page ?? false,
  resource: row.resource,
});

/** A refund of a merchant; null for an unknown one. */
export const refundOf = async (db: Queryable, merchantId: string, id: string): Promise<RefundRow | null> => {
  const { rows } = await db.query<Row>('select * from payments.refunds where id = $1 and merchant_id = $2', [
    id,
    merchantId,
  ]);
  return rows[0] ? rowOf(rows[0]) : null;
};

/** The refund whose last claim link has the token with this hash; null without one. */
export const refundOfClaim = async (db: Queryable, tokenHash: string): Promise<RefundRow | null> => {
  const { rows } = await db.query<Row>('select * from payments.refunds where claim_hash = $1', [tokenHash]);
  return rows[0] ? rowOf(rows[0]) : null;
};

/** The refunds that go to an address, oldest first. */
export const refundsTo = async (db: Queryable, destination: string): Promise<RefundRow[]> => {
  const { rows } = await db.query<Row>({
    name: 'refunds to an address',
    text: 'select * from payments.refunds where destination = $1 order by created_at, id',
    values: [destination],
  });
  return rows.map(rowOf);
};
