import { testWebhooks } from '../webhook-tests.ts';
import { checkOut, ordersOf, soldOnce, startMedusaWithPlugin } from './plugin-shop.ts';

testWebhooks('medusa', startMedusaWithPlugin, async (shop) => {
  const { orderId } = await checkOut(shop);
  return {
    orderId,
    expectUnsold: async () => expect(await ordersOf(shop, orderId)).toEqual([]),
    soldOnce: () => soldOnce(shop, orderId),
  };
});
