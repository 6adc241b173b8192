import { type Decimal, formatDecimal, parseDecimal } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { PricedCurrency } from './sources/source.ts';

/** The last price of a source that was believed. */
export interface AcceptedPrice {
  readonly currency: PricedCurrency;
  readonly source: string;
  readonly usd: Decimal;
  readonly at: Date;
}

/** Survives a restart: without it, a source that is alone then could not be believed. */
export interface AcceptedPrices {
  readonly load: () => Promise<AcceptedPrice[]>;
  readonly save: (prices: readonly AcceptedPrice[]) => Promise<void>;
}

export const acceptedPrices = (db: Queryable): AcceptedPrices => ({
  load: async () => {
    const { rows } = await db.query<{ currency: PricedCurrency; source: string; usd: string; at: Date }>(
      'select currency, source, usd, at from orders.accepted_prices',
    );
    return rows.map(({ usd, ...row }) => ({ ...row, usd: parseDecimal(usd) }));
  },
  save: async (prices) => {
    if (prices.length === 0) return;
    const column = (value: (price: AcceptedPrice) => unknown) => prices.map(value);
    await db.query(
      `insert into orders.accepted_prices (currency, source, usd, at)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) order by 1, 2
       on conflict (currency, source) do update set usd = excluded.usd, at = excluded.at`,
      [
        column(({ currency }) => currency),
        column(({ source }) => source),
        column(({ usd }) => formatDecimal(usd)),
        column(({ at }) => at),
      ],
    );
  },
});
