import { ApiError, createClient, type Order } from '@cpg/sdk';
import { verify, type WebhookEvent } from '@cpg/sdk/webhooks';

/** Shows the calls on an order, one after the other: a shop would not cancel it at the end. */
export async function sell(gateway: { baseUrl: string; apiKey: string }): Promise<Order> {
  const client = createClient(gateway);
  const order = await client.createOrder({
    external_reference_id: 'cart-1002',
    items: [{ name: 'Dinner for two', quantity: 1, unit_price: '850.00', currency: 'MXN' }],
    enable_rails: ['crypto_deposit', 'gateway_pay'],
    payment_currency: 'USDC',
    capabilities: {
      can_cancel: true,
      can_update: true,
      can_overpay: false,
      partial_payments: true,
      express_checkout: false,
      expiration_auto_renewal: false,
    },
  });
  for await (const { id, status } of client.listOrders({ external_reference_id: 'cart-1002' })) console.log(id, status);
  const { response } = await client.raw.getOrder(order.id);
  console.log(`requests left: ${response.headers.get('ratelimit-remaining')}`);
  try {
    await client.captureOrder(order.id);
    return await client.cancelOrder(order.id);
  } catch (error) {
    // `code` is stable. An unknown code of a newer gateway is handled by its status.
    if (error instanceof ApiError && error.code === 'order_state_conflict') return client.getOrder(order.id);
    throw error;
  }
}

/** What a webhook endpoint does with the body as it was received. */
export function receive(rawBody: string, headers: Record<string, string>, secret: string): string {
  const event: WebhookEvent = verify(rawBody, headers, secret);
  switch (event.event) {
    case 'order:paid':
      return `ship ${event.data.external_reference_id}`;
    case 'payment:refunded':
      return `refunded ${event.data.id}`;
    default:
      // Also events that a newer gateway sends.
      return 'nothing to do';
  }
}
