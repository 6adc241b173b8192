import pg from 'pg';
import { Pool } from 'undici';
import { startStack } from '../harness/stack.ts';
import { type ListRequest, listRequests, pagesOf } from './lists/requests.ts';
import { type Seeded, type SeededShop, seedLists } from './lists/seed.ts';
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
