import type { Availability, PaymentMethod } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { countExpiringKeys } from '../../door/keys/credentials.ts';
import { listDeliveriesOfMerchant } from '../deliveries/delivery-queries.ts';
import { listLink } from '../lists/list-link.ts';
import { listOrders } from '../orders/order-queries.ts';
import { listPayments } from '../payments/payment-queries.ts';
import { listRefunds } from '../refunds/refund-routes.ts';
import { countDisabledWebhooks } from '../webhooks/webhook-queries.ts';
import type { Overview } from './overview-schemas.ts';

const DAY_MS = 24 * 3_600_000;
const CONVERSION_DAYS = 30;
const KEY_WARNING_DAYS = 14;

/** The lists of the API by their path: a count is the total of the list that it names. */
const LISTS = {
  '/v1/orders': listOrders,
  '/v1/payments': listPayments,
  '/v1/refunds': listRefunds,
  '/v1/deliveries': listDeliveriesOfMerchant,
} as const;
type ListPath = keyof typeof LISTS;
type Filters<Path extends ListPath> = Partial<Parameters<(typeof LISTS)[Path]>[2]>;

export interface OverviewOptions {
  readonly db: Queryable;
  readonly merchantId: string;
  readonly methods: readonly PaymentMethod[];
  /** What the rails take now; undefined while payments is unavailable. */
  readonly availability: Availability | undefined;
  readonly timezone: string;
  readonly at: Date;
}

/** What a merchant looks at first. Its queries run one after the other, so that it takes one connection. */
export const readOverview = async (options: OverviewOptions): Promise<Overview> => {
  const { db, merchantId, methods, availability, timezone, at } = options;
  const counted = async <Path extends ListPath>(path: Path, filters: Filters<Path>) => {
    const list = LISTS[path] as (...args: unknown[]) => Promise<{ total: number }>;
    const { total } = await list(db, merchantId, { page: 1, limit: 1, sort: 'desc', ...filters });
    return { count: total, list: listLink(path, filters) };
  };
  const before = (ms: number) => new Date(at.getTime() - ms);
  const today = await startOfDay(db, timezone, at);
  const recent = { from_date: before(CONVERSION_DAYS * DAY_MS) };
  const attention = [
    { reason: 'orphaned_payments', ...(await counted('/v1/payments', { status: ['orphan'] })) },
    { reason: 'refunds_to_send', ...(await counted('/v1/refunds', { status: ['pending'] })) },
    { reason: 'webhooks_disabled', count: await countDisabledWebhooks(db, merchantId), list: '/v1/webhooks' },
    {
      reason: 'deliveries_failed',
      ...(await counted('/v1/deliveries', { status: ['failed'], from_date: before(DAY_MS) })),
    },
    {
      reason: 'keys_expiring',
      count: await countExpiringKeys(db, merchantId, { after: at, before: before(-KEY_WARNING_DAYS * DAY_MS) }),
      list: '/v1/api-keys',
    },
    { reason: 'networks_unavailable', count: countUnavailableNetworks(availability, methods), list: '/v1/currencies' },
  ] as const;
  return {
    as_of: at.toISOString(),
    today_from: today.toISOString(),
    taken_today: {
      ...(await counted('/v1/payments', { status: ['applied'], from_date: today })),
      amounts: await takenSince(db, merchantId, today),
    },
    waiting: await counted('/v1/orders', { status: ['initialized', 'awaiting_payment', 'partially_paid'] }),
    created: await counted('/v1/orders', recent),
    converted: await counted('/v1/orders', { status: ['paid'], ...recent }),
    due_back: { ...(await counted('/v1/payments', { due_back: true })), amounts: await dueBack(db, merchantId) },
    needs_attention: attention.filter(({ count }) => count > 0),
  };
};

/** How many networks the merchant's methods have on which new orders cannot be paid now. */
const countUnavailableNetworks = (
  availability: Availability | undefined,
  methods: readonly PaymentMethod[],
): number => {
  const offers = methods.flatMap(({ type, supported_currencies: currencies }) =>
    (availability?.offers[type] ?? []).filter(({ currency }) => currencies.includes(currency)),
  );
  const networks = offers.flatMap((offer) => offer.networks);
  return new Set(networks.filter(({ is_available }) => !is_available).map(({ network }) => network)).size;
};

const startOfDay = async (db: Queryable, timezone: string, at: Date): Promise<Date> => {
  const { rows } = await db.query<{ start: Date }>(`select date_trunc('day', $1::timestamptz, $2) as start`, [
    at,
    timezone,
  ]);
  return rows[0]!.start;
};

type Totals = Overview['due_back']['amounts'];

const takenSince = (db: Queryable, merchantId: string, since: Date): Promise<Totals> =>
  sumsOf(db, 'applied_amount', `status = 'applied' and created_at >= $2`, [merchantId, since]);

const dueBack = (db: Queryable, merchantId: string): Promise<Totals> =>
  sumsOf(db, 'due_back_amount', 'due_back', [merchantId]);

/** The sums of an amount of the payments of a merchant, `$1`, that meet a condition. */
const sumsOf = async (
  db: Queryable,
  amount: 'applied_amount' | 'due_back_amount',
  condition: string,
  values: readonly unknown[],
): Promise<Totals> => {
  const { rows } = await db.query<Totals[number]>(
    `select currency, sum((resource ->> '${amount}')::numeric)::text as amount from payments.api_payments
      where merchant_id = $1 and ${condition} and not deleted group by currency order by currency`,
    [...values],
  );
  return rows;
};
