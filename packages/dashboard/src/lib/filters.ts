import { pickSearch, readSearch, type Search, writeSearch } from './search-params.ts';

/** The lists of the dashboard, with the parameters of the API that filter each. An address of the dashboard has them
 *  under the same names. */
const LISTS = {
  orders: {
    api: '/v1/orders',
    page: '/orders',
    filters: [
      'search',
      'status',
      'currency',
      'from_date',
      'to_date',
      'min_amount',
      'external_reference_id',
      'metadata',
    ],
  },
  payments: {
    api: '/v1/payments',
    page: '/payments',
    filters: [
      'status',
      'currency',
      'due_back',
      'payment_rail',
      'order_id',
      'tx_hash',
      'from_date',
      'to_date',
      'external_reference_id',
      'payment_reference',
      'applied_from',
      'applied_to',
      'refunded_from',
      'refunded_to',
      'failed_from',
      'failed_to',
      'updated_from',
      'updated_to',
    ],
  },
  refunds: {
    api: '/v1/refunds',
    page: '/refunds',
    filters: ['status', 'currency', 'payment_id', 'order_id', 'from_date', 'to_date', 'ended_from', 'ended_to'],
  },
  deliveries: {
    api: '/v1/deliveries',
    page: '/deliveries',
    filters: ['webhook_id', 'status', 'event_type', 'last_status_code', 'from_date', 'to_date'],
  },
  requests: {
    api: '/v1/requests',
    page: '/requests',
    filters: ['method', 'status', 'code', 'api_key_id', 'path', 'request_id', 'from_date', 'to_date'],
  },
  'audit-log': {
    api: '/v1/merchants/me/audit-log',
    page: '/settings/audit-log',
    filters: ['type', 'subject', 'actor', 'from_date', 'to_date'],
  },
} as const;

export type ListName = keyof typeof LISTS;

/** How a list is read, beside its filters. */
const PAGING = ['cursor', 'limit', 'sort'] as const;
export const DEFAULT_LIMIT = 25;

/** What an address says about a list. */
export const listSearch = (list: ListName, search: Readonly<Record<string, unknown>>): Search =>
  pickSearch(search, [...LISTS[list].filters, ...PAGING]);

/** The filters that are set, without the paging. */
export const activeFilters = (list: ListName, search: Search): Search => pickSearch(search, LISTS[list].filters);

/** The request for a page of a list. Deliveries of one webhook are a list of their own. */
export const listRequest = (list: ListName, search: Search): string => {
  const { webhook_id: webhook, ...rest } = { limit: String(DEFAULT_LIMIT), ...listSearch(list, search) } as Record<
    string,
    unknown
  >;
  const path = typeof webhook === 'string' ? `/v1/webhooks/${encodeURIComponent(webhook)}/deliveries` : LISTS[list].api;
  return `${path}${writeSearch(rest)}`;
};

const DELIVERIES_OF_WEBHOOK = /^\/v1\/webhooks\/(\w+)\/deliveries$/;

export interface PlaceInDashboard {
  readonly to: string;
  readonly search: Search;
}

const OTHER_PLACES: Readonly<Record<string, string>> = {
  '/v1/webhooks': '/webhooks',
  '/v1/api-keys': '/api-keys',
  '/v1/currencies': '/settings/deposits',
};

/** The page of the dashboard that shows a list of the API, with the same filters. Undefined for a list without one. */
export const pageOfList = (list: string): PlaceInDashboard | undefined => {
  const [path = '', query = ''] = list.split('?', 2);
  const known = (Object.keys(LISTS) as ListName[]).find((name) => LISTS[name].api === path);
  if (known) return { to: LISTS[known].page, search: listSearch(known, readSearch(query)) };
  const webhook = DELIVERIES_OF_WEBHOOK.exec(path)?.[1];
  if (webhook !== undefined)
    return {
      to: LISTS.deliveries.page,
      search: { webhook_id: webhook, ...listSearch('deliveries', readSearch(query)) },
    };
  const other = OTHER_PLACES[path];
  return other === undefined ? undefined : { to: other, search: {} };
};

/** With other filters, a list begins anew. */
export const withFilter = (
  search: Search,
  changes: Readonly<Record<string, string | readonly string[] | undefined>>,
) => {
  const { cursor: _, ...rest } = search;
  return Object.fromEntries(
    Object.entries({ ...rest, ...changes }).filter(([, value]) => value !== undefined && value.length > 0),
  ) as Search;
};

/** The parameters of a range of this time, such as `updated`. */
export const rangeOf = (time: string): readonly [from: string, to: string] =>
  time === 'created' ? ['from_date', 'to_date'] : [`${time}_from`, `${time}_to`];

/** The first of these times of which a range is set. */
export const timeIn = (search: Search, times: readonly string[]): string | undefined =>
  times.find((time) => rangeOf(time).some((name) => search[name] !== undefined));

/** With the range of one time as that of another. */
export const withRangeMoved = (search: Search, from: string, to: string): Search => {
  const [[oldFrom, oldTo], [newFrom, newTo]] = [rangeOf(from), rangeOf(to)];
  const emptied = { [oldFrom]: undefined, [oldTo]: undefined };
  return withFilter(search, { ...emptied, [newFrom]: search[oldFrom], [newTo]: search[oldTo] });
};

/** The start of a local day, `2026-01-31`, as a time. Undefined for other text. */
export const startOfDay = (day: string): string | undefined => dayAt(day, 'T00:00:00.000');

/** The last millisecond of a local day. */
export const endOfDay = (day: string): string | undefined => dayAt(day, 'T23:59:59.999');

const dayAt = (day: string, time: string): string | undefined => {
  const at = new Date(`${day}${time}`);
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined;
};

/** The local day of a time, for a date field. Empty for text that is no time. */
export const dayOf = (time: string | undefined): string => {
  const at = new Date(time ?? '');
  if (Number.isNaN(at.getTime())) return '';
  const two = (part: number) => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
};
