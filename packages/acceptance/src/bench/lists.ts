import pg from 'pg';
import { Pool } from 'undici';
import { startStack } from '../harness/stack.ts';
import { type ListRequest, listRequests, pagesOf } from './lists/requests.ts';
import { type Seeded, type SeededShop, seedLists } from './lists/seed.ts';
import { atMost, ms, type Row } from './report.ts';
import { oneByOne } from './timings.ts';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const MAX_RATIO = 3;
const TIMES = 9;
/** PostgreSQL plans a prepared statement anew for its first five runs. */
const WARM_UP = 7;
const READS_BY_ID = 100;

/** Measures every filter of every list: the first, the middle and the last page that may be read, with the total. The
 *  baseline is a read by id of the same table. ROWS sets how many rows the tables have. */
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
}

const measureShop = async (http: Pool, shop: SeededShop, share: string, seeded: Seeded): Promise<Row[]> => {
  console.log(`a merchant with ${share}`);
  const requests = listRequests(shop, ROWS, seeded);
  const byId = new Map<string, number>();
  const measured: Measured[] = [];
  for (const request of requests) {
    const { list, path, apiKey, limit } = request;
    const get = (page: number) => read(http, `${path}&page=${page}`, apiKey);
    const first = JSON.parse(await get(1)) as { total: number; items: { id: string }[] };
    if (!byId.has(list)) {
      const item = `${path.split('?')[0]}/${first.items[0]!.id}`;
      byId.set(list, (await oneByOne(READS_BY_ID, () => read(http, item, apiKey), READS_BY_ID)).median);
    }
    for (const page of pagesOf(first.total, limit))
      measured.push({ ...request, page, medianMs: (await oneByOne(TIMES, () => get(page), WARM_UP)).median });
  }
  return [...byId].flatMap(([list, baselineMs]) =>
    [10, 100].map((limit) => {
      const of = measured.filter((one) => one.list === list && one.limit === limit);
      const worst = of.reduce((a, b) => (a.medianMs > b.medianMs ? a : b));
      console.log(`worst of ${of.length}: ${worst.path}&page=${worst.page}`);
      return {
        measure: `${share}: ${list}, ${limit} a page, the slowest of ${of.length}`,
        measured: ms(worst.medianMs),
        goal: atMost(worst.medianMs / baselineMs, MAX_RATIO, ' x'),
        baseline: { text: `read by id ${ms(baselineMs)}`, ratio: worst.medianMs / baselineMs },
      };
    }),
  );
};

const read = async (http: Pool, path: string, apiKey: string): Promise<string> => {
  const { statusCode, body } = await http.request({ method: 'GET', path, headers: { 'x-api-key': apiKey } });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${text}`);
  return text;
};
