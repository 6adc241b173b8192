import { PaymentCurrency } from '@cpg/contracts';
import { recordScale, requireConfiguredScale, requireRecordedScales } from './currency-scales.ts';
import type { Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { nameOf, type Projection } from '@cpg/event-sourcing';

/** Rows to look through for amounts of earlier versions. */
const NEWEST_ROWS = 100_000;

export interface StoredScalesOptions {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly projection: Pick<Projection, 'schema' | 'tables'>;
  /** The service, for the metadata of events. */
  readonly name: string;
}

/** Checks at a start that stored amounts have the decimals of the configuration. Amounts of versions that recorded no
 *  decimals show theirs in the read model. Throws WrongScaleError. */
export const requireStoredScales = async ({ client, db, projection, name }: StoredScalesOptions): Promise<void> => {
  const recorded = await requireRecordedScales(client);
  // Only the decimals of CAZ could ever be configured.
  for (const currency of PaymentCurrency.extract(['CAZ']).options) {
    if (recorded.has(currency)) continue;
    const decimals = await decimalsInRows(db, projection, currency);
    if (decimals === null) continue;
    requireConfiguredScale(currency, decimals);
    await recordScale(client, currency, `service:${name}`);
  }
};

/** The decimals of an amount in a read model, which shows them all; null without a row in that currency. */
const decimalsInRows = async (
  db: Queryable,
  projection: Pick<Projection, 'schema' | 'tables'>,
  currency: PaymentCurrency,
): Promise<number | null> => {
  const { rows } = await db.query<{ amount: string }>(
    `select coalesce(resource->>'total_amount', resource->>'paid_amount') as amount
       from (select currency, resource from ${nameOf(projection)} order by id desc limit ${NEWEST_ROWS}) newest
      where currency = $1 and resource is not null limit 1`,
    [currency],
  );
  const [row] = rows;
  return row ? (row.amount.split('.')[1]?.length ?? 0) : null;
};
