import pg from 'pg';
import { Pool } from 'undici';
import { startStack } from '../harness/stack.ts';
import { type Seeded, type SeededShop, seedLists } from './seed-lists.ts';
import { atMost, ms, type Row } from './report.ts';
import { inTurns } from './timings.ts';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const MAX_RATIO = 10;
const TURNS = 9;
/** The slowest of many short measurements is an outlier, so the slowest pages get more turns. */
const SLOWEST = 5;
const TURNS_OF_SLOWEST = 41;
/** PostgreSQL plans a prepared statement anew for its first five runs. */
const WARM_UP = 7;

/** Measures the first, the middle and the last page of every filter of every list, with the total.
 *  The baseline is a read by id, in turns with the page, so that a busy machine slows both. */
export const lists = async (): Promise<Row[]> => {
  const stack = await startStack();
  const db = new pg.Client({ connectionString: stack.databaseUrl });
  const http = new Pool(stack.baseUrl, { connections: 1, pipelining: 1 });
  try {
    await db.connect();
    console.log(`${ROWS} orders, payments and deliveries`);
    const seeded = await seedLists(stack, db, ROWS);
    const rows: Row[] = [];
    for (const [share, shop] of [
      [10, seeded.large],
      [100, seeded.medium],
    ] as const)
      rows.push(...(await measureShop(http, shop, `${Math.round(ROWS / share)} of ${ROWS}`, seeded)));
    return rows;
  } finally {
    await Promise.all([http.close(), db.end()]);
    await stack.stop();
  }
};

interface Measured extends ListRequest {
  readonly page: number;
  readonly medianMs: number;
  readonly byIdMs: number;
}

const measureShop = async (http: Pool, shop: SeededShop, share: string, seeded: Seeded): Promise<Row[]> => {
  console.log(`a merchant with ${share}`);
  const itemOf = new Map<string, string>();
  const measure = async (request: ListRequest & { page: number }, turns: number): Promise<Measured> => {
    const { list, path, apiKey, page } = request;
    const [medianMs, byIdMs] = await inTurns(
      turns,
      [`${path}&page=${page}`, itemOf.get(list)!].map((url) => () => read(http, url, apiKey)),
      WARM_UP,
    );
    return { ...request, medianMs: medianMs!, byIdMs: byIdMs! };
  };
  const measured: Measured[] = [];
  for (const request of listRequests(shop, ROWS, seeded)) {
    const { list, path, apiKey, limit } = request;
    const first = JSON.parse(await read(http, `${path}&page=1`, apiKey)) as { total: number; items: { id: string }[] };
    if (!itemOf.has(list)) itemOf.set(list, `${path.split('?')[0]}/${first.items[0]!.id}`);
    for (const page of pagesOf(first.total, limit)) measured.push(await measure({ ...request, page }, TURNS));
  }
  const rows: Row[] = [];
  for (const list of itemOf.keys())
    for (const limit of [10, 100]) {
      const of = measured.filter((one) => one.list === list && one.limit === limit);
      const again: Measured[] = [];
      for (const one of slowestFirst(of).slice(0, SLOWEST)) again.push(await measure(one, TURNS_OF_SLOWEST));
      rows.push(rowOf(slowestFirst(again)[0]!, share, of));
    }
  return rows;
};

const ratioOf = ({ medianMs, byIdMs }: Measured): number => medianMs / byIdMs;

const slowestFirst = (measured: readonly Measured[]): Measured[] =>
  [...measured].sort((a, b) => ratioOf(b) - ratioOf(a));

const rowOf = (worst: Measured, share: string, all: readonly Measured[]): Row => {
  const ratios = all.map(ratioOf).sort((a, b) => a - b);
  console.log(
    `x ${ratioOf(worst).toFixed(2)}, median ${ratios[ratios.length >> 1]!.toFixed(2)}, worst of ${all.length}: ${worst.path}&page=${worst.page}`,
  );
  return {
    measure: `${share}: ${worst.list}, ${worst.limit} a page, the slowest of ${all.length}`,
    measured: ms(worst.medianMs),
    goal: atMost(ratioOf(worst), MAX_RATIO, ' x'),
    baseline: { text: `read by id ${ms(worst.byIdMs)}`, ratio: ratioOf(worst) },
  };
};

const read = async (http: Pool, path: string, apiKey: string): Promise<string> => {
  const { statusCode, body } = await http.request({ method: 'GET', path, headers: { 'x-api-key': apiKey } });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${text}`);
  return text;
};

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
      'due_back=true',
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

interface ListRequest {
  readonly list: string;
  readonly limit: number;
  readonly path: string;
  readonly apiKey: string;
}

/** The pages to measure of a list: the first one, the middle and the last one that may be read. */
const pagesOf = (total: number, limit: number): number[] => {
  const last = Math.max(1, Math.min(MAX_PAGE, Math.ceil(total / limit)));
  return [...new Set([1, Math.ceil(last / 2), last])];
};

/** Every list with every filter and range of dates, in both orders, and with a small and the largest limit. */
const listRequests = (shop: SeededShop, rows: number, { newest, stepMs }: Seeded): ListRequest[] => {
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
