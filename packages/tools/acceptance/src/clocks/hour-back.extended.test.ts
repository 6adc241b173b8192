import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '../harness/api.ts';
import { admin, createKey } from '../harness/merchants.ts';
import { until } from '../harness/until.ts';
import { ALL_CLOCKS } from './clocks.ts';
import { type Market, newOrder, onWrongClocks, openMarket, SLOW } from './market.ts';

const HOUR = 3_600;
/** Longer than the session of a Kafka consumer that sends no heartbeats. */
const HEARTBEATS_MS = 40_000;
const FAILURES_BEFORE = 10;

onWrongClocks('all clocks an hour back', () => {
  let market: Market;
  const from_date = new Date().toISOString();
  beforeAll(async () => {
    market = await openMarket({ WEBHOOK_RETRY_SECONDS: Array<string>(60).fill('2').join(',') });
    await market.trade();
  }, SLOW);
  afterAll(() => market?.stop(), SLOW);

  const ordersAt = (path: string) =>
    new Set(market.receiver.attemptsOn(path).map(({ rawBody }) => JSON.parse(rawBody).data.id as string));
  const openWebhook = async (path: string) => {
    const { api } = market.desk.shop;
    const { id } = await api.createWebhook({ url: market.receiver.urlOf(path), events: ['order:created'] });
    await api.updateWebhook(id, { is_enabled: true });
    return id;
  };

  test(
    'revoked keys are refused, endpoints are tried again, services stay ready, and nothing happens in the future',
    async () => {
      const { api, id: merchantId } = market.desk.shop;
      const key = await createKey(market.stack(), merchantId, 'all');
      const employee = createApi({ baseUrl: market.stack().baseUrl, apiKey: key });
      await employee.merchant();
      market.receiver.answer('/failing', () => 500);
      const failing = await openWebhook('/failing');
      const told = await Promise.all(Array.from({ length: FAILURES_BEFORE }, () => newOrder(market)));
      await market.receiver.attempts('/failing', FAILURES_BEFORE);

      market.clocks.set(ALL_CLOCKS, -HOUR);
      await admin(market.stack(), ['keys', 'revoke', key.slice('ak_sandbox_'.length).slice(0, 12)]);
      await until('the revoked key to be refused', async () => {
        const { status } = await employee.send('GET', '/v1/merchants/me');
        return status === 401;
      });
      await employee.close();

      market.receiver.answer('/failing', () => 204);
      await until('the endpoint to hear of every order', async () => {
        const { items } = await api.deliveries(failing, { limit: 100 });
        if (items.length >= told.length && items.every(({ status }) => status === 'delivered')) return true;
        throw new Error(JSON.stringify(items));
      });
      await market.trade();

      for (const end = performance.now() + HEARTBEATS_MS; performance.now() < end; await sleep(1_000))
        for (const { status, missing } of Object.values(await market.readiness()))
          expect([status, missing]).toEqual(['ok', undefined]);
      await market.trade();

      const now = new Date().toISOString();
      for (const { created_at, updated_at = '', next_attempt_at = '' } of (await api.deliveries(market.webhookId))
        .items)
        expect([created_at, updated_at, next_attempt_at].filter((at) => at > now)).toEqual([]);

      const replayed = await openWebhook('/replayed');
      await api.replay(replayed, { from_date, to_date: new Date().toISOString() });
      await until('the replay of what was before and after the step', () => {
        const heard = ordersAt('/replayed');
        return told.every(({ order }) => heard.has(order.id)) && heard;
      });

      market.clocks.set(ALL_CLOCKS, 0);
      await market.trusts();
      await market.trade();
    },
    SLOW,
  );
});
