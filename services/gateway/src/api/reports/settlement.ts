import {
  type Balances,
  divideHalfEven,
  formatDecimal,
  fromMinor,
  invalidRequest,
  type ItemCurrency,
  LedgerAccount,
  type Order,
  parseDecimal,
  parseSigned,
  type PaymentCurrency,
  priceDecimals,
  type Rates,
  type SettlementLine,
} from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { mapPage, type Page, selectPage } from '../lists/page.ts';
import { startOfDay } from './days.ts';
import type { ExportQuery, SettlementQuery } from './settlement-schemas.ts';

const TABLE = 'payments.api_postings';

interface LineRow {
  readonly id: string;
  readonly payment_id: string;
  readonly merchant_id: string;
  readonly order_id: string;
  readonly currency: PaymentCurrency;
  readonly account: LedgerAccount;
  readonly amount: string;
  readonly event: string;
  readonly refund_id: string | null;
  readonly tx_hash: string | null;
  readonly payment_created_at: Date;
  readonly created_at: Date;
  readonly order_sold: Sold | null;
}

/** What a line says of its order. */
interface Sold {
  readonly external_reference_id: string;
  readonly rates: Rates;
  readonly items: Order['items'];
}

/** Besides `id` and `created_at`. */
const COLUMNS = [
  ...['payment_id', 'merchant_id', 'order_id', 'currency', 'account', 'amount::text as amount', 'event', 'refund_id'],
  ...['tx_hash', 'payment_created_at'],
  `(select json_build_object('external_reference_id', external_reference_id, 'rates', resource -> 'rates', 'items', resource -> 'items')
      from orders.api_orders as sold
     where sold.id = api_postings.order_id and sold.merchant_id = api_postings.merchant_id and not sold.deleted) as order_sold`,
];

export const listSettlementLines = async (
  db: Queryable,
  merchantId: string,
  { currency, account, payment_id, order_id, ...list }: SettlementQuery,
): Promise<Page<SettlementLine>> => {
  const page = await selectPage<LineRow>(db, {
    table: TABLE,
    columns: COLUMNS,
    owner: ['merchant_id', merchantId],
    filters: Object.entries({ currency, account, payment_id, order_id }),
    list,
    ordered: [[], ['currency', 'account']],
  });
  return mapPage(page, lineOf);
};

const BATCH = 1_000;

interface ExportOptions {
  readonly merchantId: string;
  readonly query: ExportQuery;
}

/** The lines of the days of a period, oldest first. Reads as fast as they are taken. Throws `invalid_request` for a
 *  period that ends before it begins. */
export const settlementLinesIn = async (
  db: Queryable,
  { merchantId, query: { from, to, timezone = 'UTC', currency } }: ExportOptions,
): Promise<AsyncIterable<SettlementLine>> => {
  if (from > to) throw invalidRequest([{ path: 'to', message: `must not be before ${from}` }]);
  const read = async (after: { readonly created_at: Date | null; readonly id: string }) => {
    const { rows } = await db.query<LineRow>(
      `select id, created_at, ${COLUMNS.join(', ')} from ${TABLE}
        where merchant_id = $1 and ($5::text is null or currency = $5)
          and created_at >= ${startOfDay('$2::timestamp', '$4')}
          and created_at < ${startOfDay(`$3::timestamp + interval '1 day'`, '$4')}
          and (created_at, id) > (coalesce($6::timestamptz, '-infinity'), $7)
        order by created_at, id limit ${BATCH}`,
      [merchantId, from, to, timezone, currency ?? null, after.created_at, after.id],
    );
    return rows;
  };
  const first = await read({ created_at: null, id: '' });
  return (async function* () {
    for (let rows = first; rows.length > 0; rows = await read(rows.at(-1)!)) yield* rows.map(lineOf);
  })();
};

const lineOf = ({ order_sold: sold, refund_id, tx_hash, payment_created_at, created_at, ...row }: LineRow) => {
  const { id, merchant_id, event, account, amount, currency, payment_id, order_id } = row;
  return {
    ...{ id, entry: id.slice(0, id.lastIndexOf('_')), merchant_id, booked_at: created_at.toISOString() },
    ...{ event, account, amount, currency, payment_id, order_id },
    ...(sold && { external_reference_id: sold.external_reference_id }),
    ...(refund_id !== null && { refund_id }),
    ...(tx_hash !== null && { tx_hash }),
    ...(sold && itemAmountOf(amount, sold, payment_created_at)),
  };
};

/** What an amount was worth at the sale. Nothing if the items have several currencies, or if the rate was quoted after
 *  the payment: its part of the order may have another rate. */
const itemAmountOf = (
  amount: string,
  { rates, items }: Pick<Sold, 'rates' | 'items'>,
  paidAt: Date,
): Pick<SettlementLine, 'item_amount' | 'item_currency' | 'rate'> => {
  const currencies = new Set(
    items.flatMap((item) => [item, ...(item.modifiers ?? [])]).map(({ currency }) => currency),
  );
  const [currency] = currencies;
  const quoted = currency && rates[currency];
  if (currencies.size !== 1 || !quoted || Date.parse(quoted.quoted_at) > paidAt.getTime()) return {};
  return { item_amount: convert(amount, quoted.rate, currency), item_currency: currency, rate: quoted.rate };
};

/** Units of the item currency, of which one is worth `rate` units of the currency of `amount`. */
const convert = (amount: string, rate: string, currency: ItemCurrency): string => {
  const [value, price] = [parseSigned(amount), parseDecimal(rate)];
  const decimals = priceDecimals(currency);
  const units = value.units < 0n ? -value.units : value.units;
  const minor = divideHalfEven(units * 10n ** BigInt(price.scale + decimals), price.units * 10n ** BigInt(value.scale));
  return formatDecimal({ units: value.units < 0n ? -minor : minor, scale: decimals });
};

export const readBalances = async (db: Queryable, merchantId: string, at: Date): Promise<Balances> => {
  const { rows } = await db.query<{ currency: PaymentCurrency; account: LedgerAccount; amount: string }>(
    `select currency, account, sum(amount)::text as amount from ${TABLE}
      where merchant_id = $1 and created_at < $2 group by currency, account order by currency`,
    [merchantId, at],
  );
  const currencies = [...new Set(rows.map(({ currency }) => currency))];
  return {
    at: at.toISOString(),
    currencies: currencies.map((currency) => {
      const own = rows.filter((row) => row.currency === currency);
      const zero = fromMinor(0n, parseSigned(own[0]!.amount).scale);
      const amountOf = (account: LedgerAccount) => own.find((row) => row.account === account)?.amount ?? zero;
      const accounts = Object.fromEntries(LedgerAccount.options.map((account) => [account, amountOf(account)]));
      return { currency, accounts: accounts as Record<LedgerAccount, string> };
    }),
  };
};
