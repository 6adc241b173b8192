import { testWebhooks } from '../webhook-tests.ts';
import { checkOut, soldOnce, startVendureWithPlugin } from './plugin-shop.ts';

const UNSOLD = { state: 'ArrangingPayment', payments: [] };

testWebhooks('vendure', startVendureWithPlugin, async (shop, gateway) => {
  const checkout = await checkOut(shop, gateway);
  return {
    orderId: checkout.gatewayOrderId,
    expectUnsold: async () => expect(await shop.staff.order(checkout.cart.id)).toMatchObject(UNSOLD),
    soldOnce: () => soldOnce(shop, checkout),
  };
});
