import type { Seeded, SeededShop } from './seed.ts';

/** A list, and the filters that its documentation names, alone and together. */
interface List {
  readonly name: string;
  readonly path: (shop: SeededShop) => string;
  readonly filters: readonly string[];
}

const LISTS: readonly List[] = [
  {
    name: 'orders',
    path: () => '/v1/orders',
    filters: [
      '',
      'status=paid',
      'status=reversed',
      'status=initialized',
      'currency=USDC',
      'currency=BTC',
      'status=paid&currency=USDC',
      'status=awaiting_payment&currency=ETH',
      'external_reference_id={reference}',
      'external_reference_id={reference}&status=paid&currency=USDC',
    ],
  },
  {
    name: 'payments',
    path: () => '/v1/payments',
    filters: [
      '',
      'status=applied',
      'status=refunded',
      'currency=USDT',
      'payment_rail=gateway_pay',
      'status=failed&currency=USDC',
      'status=applied&payment_rail=crypto_deposit',
      'status=failed&currency=USDC&payment_rail=gateway_pay',
      'order_id={order}',
      'order_id={order}&status=applied',
    ],
  },
  {
    name: 'refunds',
    path: () => '/v1/refunds',
    filters: ['', 'currency=USDC', 'currency=ETH', 'payment_id={payment}', 'order_id={order}&currency=USDC'],
  },
  {
    name: 'deliveries',
    path: ({ webhookId }) => `/v1/webhooks/${webhookId}/deliveries`,
    filters: [
      '',
      'status=delivered',
      'status=failed',
      'event_type=order:created',
      'status=pending&event_type=payment:applied',
    ],
  },
];

const SORTS = ['desc', 'asc'] as const;
const LIMITS = [10, 100] as const;
const MAX_PAGE = 1_000;

export interface ListRequest {
  readonly list: string;
  readonly limit: number;
  readonly path: string;
  readonly apiKey: string;
}

/** The pages to measure of a list: the first one, the middle and the last one that may be read. */
export const pagesOf = (total: number, limit: number): number[] => {
  const last = Math.max(1, Math.min(MAX_PAGE, Math.ceil(total / limit)));
  return [...new Set([1, Math.ceil(last / 2), last])];
};

/** Every list with every filter and range of dates, in both orders, and with a small and the largest limit. */
export const listRequests = (shop: SeededShop, rows: number, { newest, stepMs }: Seeded): ListRequest[] => {
  const at = (share: number) => new Date(newest.getTime() - share * rows * stepMs).toISOString();
  const dates = [
    '',
    `from_date=${at(0.7123)}`,
    `to_date=${at(0.2345)}`,
    `from_date=${at(0.8123)}&to_date=${at(0.1456)}`,
  ];
  const n = String(Math.floor(rows / 200) * 100).padStart(26, '0');
  const values = { reference: `cart-${Math.floor(Number(n) / 3)}`, order: `ord_${n}`, payment: `pay_${n}` };
  const valueOf = (filter: string) => filter.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof values) => values[name]);
  return LISTS.flatMap(({ name, path, filters }) =>
    filters.flatMap((filter) =>
      dates.flatMap((range) =>
        SORTS.flatMap((sort) =>
          LIMITS.map((limit) => ({
            list: name,
            limit,
            path: [path(shop), [`limit=${limit}&sort=${sort}`, valueOf(filter), range].filter(Boolean).join('&')].join(
              '?',
            ),
            apiKey: shop.key,
          })),
        ),
      ),
    ),
  );
};
