import { setClock } from '@cpg/local-chain';
import { until } from '../harness/until.ts';
import { ALL_CLOCKS } from './clocks.ts';
import { HOOK, type Market, newOrder, onWrongClocks, openMarket, SLOW } from './market.ts';

const YEAR = 365 * 86_400;

onWrongClocks('a stack that was stopped for a year', () => {
  let market: Market;
  beforeAll(async () => {
    market = await openMarket({ WEBHOOK_RETRY_SECONDS: Array<string>(20).fill('3600').join(',') });
  }, SLOW);
  afterAll(() => market?.stop(), SLOW);

  test(
    'counts what was paid in time, and delivers its webhooks',
    async () => {
      const { api } = market.desk.shop;
      await market.trade();
      market.receiver.answer(HOOK, () => 503);
      const [paid, unpaid, canceled] = [await newOrder(market), await newOrder(market), await newOrder(market)];
      await api.cancel(canceled.order.id);
      await until('a failed attempt', async () => {
        const { items } = await api.deliveries(market.webhookId);
        return items.some(({ status, attempt_count }) => status === 'pending' && attempt_count > 0);
      });
      await market.restart(async () => {
        await market.pay(paid.deposit);
        market.clocks.set(ALL_CLOCKS, YEAR);
        await setClock(market.node.call, () => Date.now() + YEAR * 1_000);
        await market.confirm();
        market.receiver.answer(HOOK, () => 204);
      });
      await market.ready();
      await market.shows(paid.order.id, 'paid');
      await market.shows(canceled.order.id, 'canceled');
      // An order whose chain was not read yet is looked at again after a minute.
      const within = { withinMs: 120_000 };
      await until('the end of the other', async () => (await api.order(unpaid.order.id)).status === 'expired', within);
      expect(await api.webhook(market.webhookId)).toMatchObject({ is_enabled: true });
      await market.trade();
    },
    SLOW,
  );
});
