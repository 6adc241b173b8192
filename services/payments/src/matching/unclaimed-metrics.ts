import { isTransientDatabaseError, type Queryable } from '@cpg/platform/postgres';
import { computedMetric, type MetricsRegistry } from '@cpg/platform';
import { type UnclaimedTotal, unclaimedTotals } from './unclaimed-payments.ts';

/** Adds how much unclaimed money waits for an operator, and how long, by currency. Without PostgreSQL they have no
 *  values. */
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
  metric('unclaimed_oldest_age_seconds', 'Age of the oldest of them', ({ oldestAgeSeconds }) => oldestAgeSeconds);
};
