import { newUlid } from '@cpg/platform';
import { ulid } from 'ulid';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';

const NOW = '2026-01-31T23:30:00.000Z';
const DAY = '2026-01-31';

let gateway: TestGateway;
let shop: TestMerchant;
let webhook: string;
beforeAll(async () => {
  gateway = await startGateway({ now: () => new Date(NOW) });
  await gateway.pool.query('select webhooks.create_partition($1, $2)', ['deliveries', DAY]);
  shop = await gateway.merchant();
  webhook = await createWebhook();
});
afterAll(() => gateway.close());

const createWebhook = async () =>
  (await shop.send('POST', '/v1/webhooks', { url: 'https://shop.example/hooks', events: ['order:paid'] })).body
    .id as string;

/** Inserts deliveries that were created at these times, in one partition. */
const record = async (status: string, times: readonly string[], of = webhook) => {
  const ids = times.map((at) => `dlv_${ulid(Date.parse(at))}`);
  await gateway.pool.query(
    `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, status, created_at)
     select $1, 'evt_' || id, $2, id, 'order:paid', $3, now() from unnest($4::text[]) as id`,
    [DAY, of, status, ids],
  );
  return ids;
};
const merge = () => gateway.pool.query('select webhooks.merge_delivery_counts(1000)');
const read = async (id = webhook) => (await shop.send('GET', `/v1/webhooks/${id}/health`)).body;

test('counts the deliveries of the last 30 days by their status now, before and after the counts are merged', async () => {
  await record('delivered', ['2026-01-02T00:00:00.000Z', '2026-01-30T23:59:59.999Z', '2026-01-31T00:00:00.000Z']);
  await record('delivered', ['2026-01-01T23:59:59.999Z']);
  await record('failed', ['2026-01-31T23:29:59.000Z']);
  const [retried] = await record('pending', ['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00.000Z']);
  await record('failed', ['2026-01-31T12:00:00.000Z'], await createWebhook());
  const check = async (expected: readonly [number, number, number]) => {
    const { webhook_id, days } = await read();
    expect([webhook_id, days.length]).toEqual([webhook, 30]);
    const shown = days
      .map(({ day, delivered, failed, pending }: never) => [day, ...[delivered, failed, pending].map(countOf)])
      .filter(([, ...counts]: number[]) => counts.some((count) => count > 0));
    expect(shown).toEqual([
      ['2026-01-02', 1, 0, 0],
      ['2026-01-30', 1, 0, 0],
      ['2026-01-31', ...expected],
    ]);
    for (const { delivered, failed, pending } of days)
      for (const { count, list } of [delivered, failed, pending])
        expect((await shop.send('GET', list)).body).toMatchObject({ total: count });
  };
  await check([1, 1, 2]);
  await merge();
  await check([1, 1, 2]);
  await gateway.pool.query("update webhooks.deliveries set status = 'delivered' where day = $1 and id = $2", [
    DAY,
    retried,
  ]);
  await check([2, 1, 1]);
  await merge();
  await check([2, 1, 1]);
});

const countOf = ({ count }: { readonly count: number }) => count;

test('a webhook without deliveries has 30 days without any', async () => {
  const { days } = await read(await createWebhook());
  expect([days[0].day, days.at(-1).day]).toEqual(['2026-01-02', '2026-01-31']);
  expect(days.flatMap(({ delivered, failed, pending }: never) => [delivered, failed, pending].map(countOf))).toEqual(
    Array(90).fill(0),
  );
});

test('a webhook of another merchant is not found', async () => {
  const other = await gateway.merchant();
  expect((await other.send('GET', `/v1/webhooks/${webhook}/health`)).status).toBe(404);
  expect((await shop.send('GET', `/v1/webhooks/whk_${newUlid()}/health`)).status).toBe(404);
});
