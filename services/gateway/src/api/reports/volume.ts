import { invalidRequest } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { listLink } from '../lists/list-link.ts';
import { startOfDay } from './days.ts';
import { MAX_DAYS, type Volume } from './volume-schemas.ts';

const DAY_MS = 24 * 3_600_000;
const DEFAULT_DAYS = 14;

export interface VolumeOptions {
  readonly db: Queryable;
  readonly merchantId: string;
  /** Days of `timezone`, such as `2026-01-31`. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly timezone: string;
  readonly at: Date;
}

/** Throws `invalid_request` for a period that ends before it begins, or is too long. */
export const readVolume = async (options: VolumeOptions): Promise<Volume> => {
  const { db, merchantId, timezone, at } = options;
  const to = options.to ?? (await today(db, timezone, at));
  const from = options.from ?? daysBefore(to, DEFAULT_DAYS - 1);
  if (from > to) throw invalidRequest([{ path: 'to', message: `must not be before ${from}` }]);
  if (from < daysBefore(to, MAX_DAYS - 1))
    throw invalidRequest([
      {
        path: 'from',
        message: `must be ${daysBefore(to, MAX_DAYS - 1)} or later: a period has ${MAX_DAYS} days at most`,
      },
    ]);
  // Without a day, a row sums the period.
  // A refund counts `0 *` of its amount as a payment, so that zeros have decimals.
  const { rows } = await db.query<SumRow>(
    `select to_char(day, 'YYYY-MM-DD') as day, currency,
            sum(payments)::int as count, sum(applied_amount)::text as applied_amount, sum(fee_amount)::text as fee_amount,
            sum(refunded_amount)::text as refunded_amount, sum(refunds)::int as refund_count, sum(amount)::text as refund_amount,
            ${startOf('coalesce(day, $2::timestamp)')} as starts, ${startOf(`coalesce(day, $3::timestamp) + interval '1 day'`)} as ends
       from (select date_trunc('day', created_at at time zone $4) as day, currency, 1 as payments, applied_amount, fee_amount,
                    coalesce(refunded_amount, 0 * applied_amount) as refunded_amount, 0 as refunds, 0 * applied_amount as amount
               from payments.api_payments,
                    json_to_record(resource) as payment (applied_amount numeric, fee_amount numeric, refunded_amount numeric)
              where merchant_id = $1 and status = 'applied' and not deleted
                and created_at >= ${startOf('$2::timestamp')} and created_at < ${startOf(`$3::timestamp + interval '1 day'`)}
              union all
             select date_trunc('day', ended_at at time zone $4), currency, 0, 0 * amount, 0 * amount, 0 * amount, 1, amount
               from payments.api_refunds, json_to_record(resource) as refund (amount numeric)
              where merchant_id = $1 and status in ('recorded', 'settled')
                and ended_at >= ${startOf('$2::timestamp')} and ended_at < ${startOf(`$3::timestamp + interval '1 day'`)}) as entries
      group by grouping sets ((day, currency), (currency))
      order by day, currency`,
    [merchantId, from, to, timezone],
  );
  const days = rows.flatMap(({ day, ...row }) => (day === null ? [] : [{ day, ...sumsOf(row) }]));
  const totals = rows.flatMap(({ day, ...row }) => (day === null ? [sumsOf(row)] : []));
  return { from, to, timezone, days, totals };
};

const startOf = (day: string): string => startOfDay(day, '$4');

type Sums = Volume['totals'][number];
type SumRow = Omit<Sums, 'list' | 'refunds'> & {
  readonly day: string | null;
  readonly refund_count: number;
  readonly refund_amount: string;
  readonly starts: Date;
  readonly ends: Date;
};

const sumsOf = ({ starts, ends, refund_count, refund_amount, ...sums }: Omit<SumRow, 'day'>): Sums => {
  // Lists include both ends.
  const [first, last] = [starts, new Date(ends.getTime() - 1)];
  const { currency } = sums;
  const refunds = { status: ['recorded', 'settled'], currency, ended_from: first, ended_to: last };
  return {
    ...sums,
    list: listLink('/v1/payments', { status: 'applied', currency, from_date: first, to_date: last }),
    refunds: { count: refund_count, amount: refund_amount, list: listLink('/v1/refunds', refunds) },
  };
};

const today = async (db: Queryable, timezone: string, at: Date): Promise<string> => {
  const { rows } = await db.query<{ day: string }>(
    `select to_char($1::timestamptz at time zone $2, 'YYYY-MM-DD') as day`,
    [at, timezone],
  );
  return rows[0]!.day;
};

const daysBefore = (day: string, count: number): string =>
  new Date(Date.parse(day) - count * DAY_MS).toISOString().slice(0, 10);
