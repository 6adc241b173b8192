import type { Payment } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { UNCLAIMED_MERCHANT } from '../payment/state.ts';

export interface UnclaimedPayment {
  readonly resource: Payment;
  /** The account that its address belongs to; null if that is not known. */
  readonly account: string | null;
  readonly ageSeconds: number;
}

const UNRESOLVED = 'merchant_id = $1 and status = $2 and not deleted';
const VALUES = [UNCLAIMED_MERCHANT, 'orphan'];
const AGE_SECONDS = 'greatest(0, extract(epoch from now() - created_at))::float8';

/** Confirmed payments of no merchant that nobody resolved, oldest first. */
export const unclaimedPayments = async (db: Queryable): Promise<UnclaimedPayment[]> => {
  const { rows } = await db.query<{ resource: Payment; account: string | null; age: number }>(
    `select resource, account, ${AGE_SECONDS} as age
     from payments.payments left join payments.unshown_addresses on address = order_id
     where ${UNRESOLVED} order by created_at, id`,
    VALUES,
  );
  return rows.map(({ resource, account, age }) => ({ resource, account, ageSeconds: age }));
};

export interface UnclaimedTotal {
  readonly currency: string;
  readonly count: number;
  readonly oldestAgeSeconds: number;
}

/** The number of unclaimed payments and the age of the oldest one, by currency. */
export const unclaimedTotals = async (db: Queryable): Promise<UnclaimedTotal[]> => {
  const { rows } = await db.query<{ currency: string; count: number; age: number }>(
    `select currency, count(*)::int as count, max(${AGE_SECONDS}) as age
     from payments.payments where ${UNRESOLVED} group by currency`,
    VALUES,
  );
  return rows.map(({ currency, count, age }) => ({ currency, count, oldestAgeSeconds: age }));
};
