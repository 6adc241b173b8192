import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import { type DeliveryFilters, listDeliveries, listDeliveriesOfMerchant } from './delivery-queries.ts';

const START = Date.UTC(2026, 0, 11);
const DAY_MS = 86_400_000;
const ROWS = 1_500;
const WEBHOOK = `whk_${newUlid()}`;
const OTHER_WEBHOOK = `whk_${newUlid()}`;

let gateway: TestGateway;
let merchantId: string;
beforeAll(async () => {
  gateway = await startGateway();
  merchantId = (await gateway.merchant()).id;
  for (let day = 10; day < 20; day += 1)
    await gateway.pool.query(
      `create table webhooks.deliveries_202601${day} partition of webhooks.deliveries
       for values from ('2026-01-${day}') to ('2026-01-${day + 1}')`,
    );
  for (const webhook of [WEBHOOK, OTHER_WEBHOOK, `whk_${newUlid()}`]) await insert(webhook);
  for (const [webhook, deletedAt] of [
    [WEBHOOK, null],
    [OTHER_WEBHOOK, null],
    [`whk_${newUlid()}`, new Date()],
  ])
    await gateway.pool.query(
      `insert into gateway.webhooks (id, merchant_id, url, events, secret_box, secret_seed, created_at, deleted_at)
       values ($1, $2, 'https://shop.example', '{order:paid}', 'box', 'seed', now(), $3)`,
      [webhook, merchantId, deletedAt],
    );
  await merge();
  // Statements on the parent and on one partition, deletions and moves to another day, before and after a merge.
  for (const [first, table] of [
    [1, 'deliveries'],
    [2, 'deliveries_20260112'],
  ] as const) {
    const some = (n: number) => `from webhooks.${table} where right(event_id, 4)::int % 17 = ${first + n}`;
    await gateway.pool.query(`update webhooks.${table} set status = 'delivered' where right(event_id, 4)::int % 5 = 0`);
    await gateway.pool.query(`update webhooks.${table} set status = 'failed' where right(event_id, 4)::int % 13 = 1`);
    await gateway.pool.query(
      `update webhooks.${table} set last_status_code = 503 where right(event_id, 4)::int % 7 = 1`,
    );
    await gateway.pool.query(`delete ${some(1)}`);
    if (first === 1) await merge();
  }
  await gateway.pool.query(`update webhooks.deliveries set day = '2026-01-19' where right(event_id, 4)::int % 23 = 3`);
});
afterAll(() => gateway.close());

/** Bursts within a second, and gaps of minutes, hours and days. Partitions are of the day of the event: the same or the
 *  day before. */
const insert = (webhook: string) =>
  gateway.pool.query(
    `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, status, last_status_code, created_at)
     select to_timestamp((ms - n % 2 * ${DAY_MS / 2}) / 1000)::date, 'evt_' || lpad(n::text, 26, '0'), $1,
       webhooks.first_delivery_id(ms) || lpad(((n * 7919) % 100003)::text, 15, '0') || right($1, 1),
       (array['order:paid','order:paid','payment:applied'])[1 + n * 5 % 13 % 3],
       (array['delivered','delivered','delivered','pending'])[1 + n * 7 % 11 % 4],
       (array[200,200,500,null])[1 + n * 3 % 7 % 4], to_timestamp(ms / 1000)
     from (select n, ${START} + (n / 200) * 83000000 + (n / 40 % 5) * 700000 + (n % 40 / 20) * 61000 + n % 7 * 250 as ms
       from generate_series(1, ${ROWS}) as n) as numbered`,
    [webhook],
  );
const merge = () => gateway.pool.query('select webhooks.merge_delivery_counts(100000)');

const DATES = [
  {},
  { from_date: new Date(START + DAY_MS) },
  { from_date: new Date(START + 83_000_000 + 700_250), to_date: new Date(START + 4 * 83_000_000 + 61_500) },
  { to_date: new Date(START + 2 * DAY_MS), from_date: new Date(START + 3 * DAY_MS) },
] as const;
const FILTERS: DeliveryFilters[] = [
  {},
  { status: ['failed'] },
  { status: ['pending'] },
  { event_type: 'payment:applied' },
  { status: ['delivered'], event_type: 'order:paid' },
  { event_type: 'order:expired' },
  { status: ['failed', 'pending'] },
  { last_status_code: 500 },
  { last_status_code: 503, status: ['failed', 'delivered'], event_type: 'order:paid' },
  { last_status_code: 418 },
];
const PAGES = [
  { page: 1, limit: 10 },
  { page: 7, limit: 33 },
  { page: 1_000, limit: 1 },
];

/** The ids of a page and the total, by the plainest statement. */
const expected = async (
  { status, event_type: type, last_status_code: code }: DeliveryFilters,
  sort: string,
  { page, limit }: (typeof PAGES)[number],
  dates: { from_date?: Date; to_date?: Date },
  webhooks = [WEBHOOK],
) => {
  const { rows } = await gateway.pool.query<{ id: string }>(
    `select id from webhooks.deliveries where webhook_id = any($1) and ($2::text[] is null or status = any($2))
       and ($6::int is null or last_status_code = $6) and ($3::text is null or event_type = $3) and id >= webhooks.first_delivery_id($4) and id < webhooks.first_delivery_id($5)
     order by id ${sort}, webhook_id`,
    [
      ...[webhooks, status, type],
      ...[dates.from_date?.getTime() ?? 0, (dates.to_date?.getTime() ?? Date.UTC(2100)) + 1, code],
    ],
  );
  return { total: rows.length, ids: rows.slice((page - 1) * limit, page * limit).map(({ id }) => id) };
};

describe.each(['asc', 'desc'] as const)('sorted %s', (sort) => {
  test.each(FILTERS)('pages of deliveries with %j have the rows and the exact total, by counts', async (filters) => {
    for (const dates of DATES) {
      for (const page of PAGES) {
        const list = await listDeliveries(gateway.pool, WEBHOOK, { ...filters, ...page, ...dates, sort });
        expect({ total: list.total, ids: list.items.map(({ id }) => id) }).toEqual(
          await expected(filters, sort, page, dates),
        );
      }
    }
  });

  test.each(FILTERS)('those of all webhooks of a merchant with %j are the rows of each of them', async (filters) => {
    for (const dates of DATES) {
      for (const page of PAGES) {
        const list = await listDeliveriesOfMerchant(gateway.pool, merchantId, { ...filters, ...page, ...dates, sort });
        expect({ total: list.total, ids: list.items.map(({ id }) => id) }).toEqual(
          await expected(filters, sort, page, dates, [WEBHOOK, OTHER_WEBHOOK]),
        );
      }
    }
  });

  test('a walk by cursors shows each delivery once', async () => {
    const query = { status: ['delivered'], ...DATES[1], sort, limit: 37 };
    const walked: string[] = [];
    let page = await listDeliveries(gateway.pool, WEBHOOK, { ...query, page: 1 });
    for (;;) {
      walked.push(...page.items.map(({ id }) => id));
      if (page.next_cursor === undefined) break;
      page = await listDeliveries(gateway.pool, WEBHOOK, { ...query, page: 1, cursor: page.next_cursor });
    }
    const { ids } = await expected({ status: ['delivered'] }, sort, { page: 1, limit: ROWS }, DATES[1]);
    expect(walked).toEqual(ids);
  });
});
