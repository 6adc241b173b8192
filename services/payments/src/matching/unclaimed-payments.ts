import type { Payment } from '@cpg/contracts';
import { computedMetric, type MetricsRegistry } from '@cpg/platform';
import { isTransientDatabaseError, type Queryable } from '@cpg/platform/postgres';
import { UNCLAIMED_MERCHANT } from '../payment/state.ts';

export interface UnclaimedPayment {
  readonly resource: Payment;
  /** The fingerprint of the deposit account that its address was derived from; null if that is not known. */
  readonly account: string | null;
  readonly ageSeconds: number;
}

const UNRESOLVED = 'merchant_id = $1 and status = $2 and not deleted';
const VALUES = [UNCLAIMED_MERCHANT, 'orphan'];
const AGE_SECONDS = 'greatest(0, extract(epoch from now() - created_at))::float8';

/** Confirmed payments of no merchant that nobody resolved, oldest first. A payment to an address that no order shows
 *  has the address as its order id. */
export const unclaimedPayments = async (db: Queryable): Promise<UnclaimedPayment[]> => {
  const { rows } = await db.query<{ resource: Payment; account: string | null; age: number }>(
    `select resource, account, ${AGE_SECONDS} as age
     from payments.payments left join payments.unshown_addresses on address = order_id
     where ${UNRESOLVED} order by created_at, id`,
    VALUES,
  );
  return rows.map(({ resource, account, age }) => ({ resource, account, ageSeconds: age }));
};

interface UnclaimedTotal {
  readonly currency: string;
  readonly count: number;
  readonly oldestAgeSeconds: number;
}

/** The number of unclaimed payments and the age of the oldest one, by currency. */
const unclaimedTotals = async (db: Queryable): Promise<UnclaimedTotal[]> => {
  const { rows } = await db.query<{ currency: string; count: number; age: number }>(
    `select currency, count(*)::int as count, max(${AGE_SECONDS}) as age
     from payments.payments where ${UNRESOLVED} group by currency`,
    VALUES,
  );
  return rows.map(({ currency, count, age }) => ({ currency, count, oldestAgeSeconds: age }));
};

/** Adds metrics of the payments that wait for an operator: their number and the age of the oldest one, by currency.
 *  Without PostgreSQL these metrics have no values. */
export const unclaimedMetrics = (registry: MetricsRegistry, db: Queryable): void => {
  const totals = () =>
    unclaimedTotals(db).catch((error: unknown): UnclaimedTotal[] => {
      // The other metrics must stay readable during an outage.
      if (isTransientDatabaseError(error)) return [];
      throw error;
    });
  const metric = (name: string, help: string, value: (total: UnclaimedTotal) => number) =>
    computedMetric(registry, {
      name,
      help,
      labels: ['currency'],
      values: async () => (await totals()).map((total) => [{ currency: total.currency }, value(total)] as const),
    });
  metric('unclaimed_payments', 'Confirmed payments of no merchant that nobody resolved', ({ count }) => count);
  metric(
    'unclaimed_oldest_age_seconds',
    'Age of the oldest unclaimed payment',
    ({ oldestAgeSeconds }) => oldestAgeSeconds,
  );
};
