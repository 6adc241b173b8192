import { setTimeout as sleep } from 'node:timers/promises';
import { evmAssetOf, pay } from '@cpg/local-chain';
import type { Deposit } from '../chains/desk.ts';
import { readKafkaLog } from '../harness/kafka-log.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { ALL_CLOCKS } from './clocks.ts';
import { type Market, newOrder, onWrongClocks, openMarket, SLOW } from './market.ts';

const FORTY_DAYS = 40 * 86_400;
/** Longer than a lease and than the pause between two runs of a cleanup. */
const AHEAD_MS = 65_000;

onWrongClocks('all clocks forty days ahead for a minute', () => {
  let market: Market;
  beforeAll(async () => (market = await openMarket()), SLOW);
  afterAll(() => market?.stop(), SLOW);

  const payHalf = ({ asset, address, amount_units }: Deposit) =>
    pay(market.node.call, evmAssetOf(asset), address, BigInt(amount_units) / 2n);

  test(
    'end no order, drop nothing that is stored, and free no address',
    async () => {
      const { api } = market.desk.shop;
      const open = await Promise.all([5, 60, 60].map((minutes) => newOrder(market, { expiration_minutes: minutes })));
      const [short, long, half] = open as [(typeof open)[0], (typeof open)[0], (typeof open)[0]];
      const [paid, canceled] = [await newOrder(market), await newOrder(market)];
      await payHalf(half.deposit);
      await api.cancel(canceled.order.id);
      await market.confirm();
      await market.shows(half.order.id, 'partially_paid');
      await market.shows(canceled.order.id, 'canceled');
      const headers = { 'idempotency-key': 'before-the-step' };
      const created = await api.createOrder(orderBody(), headers);
      const { items: deliveries } = await api.deliveries(market.webhookId);

      market.clocks.set(ALL_CLOCKS, FORTY_DAYS);
      await market.pay(paid.deposit);
      await market.confirm();
      await sleep(AHEAD_MS);
      for (const { status, clock } of Object.values(await market.readiness()))
        expect([status, clock?.paused]).toEqual(['ok', expect.stringMatching(/ jumped 345\d{4} s ahead/)]);
      market.clocks.set(ALL_CLOCKS, 0);
      await market.trusts();

      await market.shows(paid.order.id, 'paid');
      for (const [{ order }, status] of [
        [short, 'awaiting_payment'],
        [long, 'awaiting_payment'],
        [half, 'partially_paid'],
      ] as const)
        expect(await api.order(order.id)).toMatchObject({ status });
      const repeated = await api.send('POST', '/v1/orders', { body: orderBody(), headers });
      expect(repeated).toMatchObject({ status: 201, body: { id: created.id } });
      for (const { id } of deliveries)
        expect(await api.delivery(market.webhookId, id)).toMatchObject({ payload: { data: expect.anything() } });
      const log = await readKafkaLog(market.stack().kafkaBrokers);
      await log.waitFor(long.order.id, ([first]) => first!.type === 'order.created');
      await log.close();

      for (const { deposit } of [short, long, canceled]) await market.pay(deposit);
      await payHalf(half.deposit);
      await market.confirm();
      for (const { order } of open) await market.shows(order.id, 'paid');
      const orphan = { status: 'orphan', orphan_reason: 'canceled' } as const;
      await market.desk.sees(canceled.order.id, { status: 'canceled', payments: [orphan] });
      await market.trade();
    },
    SLOW,
  );
});
