import { randomUUID } from 'node:crypto';
import { item, orderBody } from '../harness/order-bodies.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import type { Receiver } from '../harness/receiver.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { until } from '../harness/until.ts';

/** What a page would run if it took a text for HTML or for a link. */
const HOSTILE = `"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

export interface FullShop {
  readonly shop: Shop;
  readonly orders: { readonly waiting: string; readonly paid: string; readonly canceled: string };
  readonly orphan: string;
  readonly webhook: string;
  readonly delivery: string;
  /** A request that was refused. */
  readonly request: string;
}

/** A shop with something on every page. Every text that a merchant, a shop or a payer chooses is hostile by default. */
export const openFullShop = async (stack: StackFiles, receiver: Receiver, text = HOSTILE): Promise<FullShop> => {
  const shop = await openShop(stack);
  const { api } = shop;
  const path = `/${randomUUID()}`;
  const events = ['order:created', 'order:updated', 'order:paid', 'payment:orphaned'] as const;
  const { id: webhook } = await api.createWebhook({ url: receiver.urlOf(path), events: [...events], label: text });
  await api.updateWebhook(webhook, { is_enabled: true });
  const order = () =>
    api.createOrder(
      orderBody({
        external_reference_id: text,
        items: [item('10', 'USDT', { name: text, modifiers: [{ ...item('1', 'USDT'), name: text }] })],
        metadata: { [text]: text },
      }),
    );
  const [waiting, paid, canceled] = [await order(), await order(), await order()];
  const pay = (id: string, amount: string) =>
    api.pay({ order_id: id, payment_rail: 'crypto_deposit', amount, currency: 'USDT', txHash: `0x${randomUUID()}` });
  await pay(paid.id, paid.total_amount);
  const { payments } = await pay(paid.id, '3');
  const orphan = payments.find(({ status }) => status === 'orphan')!.id;
  await api.cancel(canceled.id);
  await api.send('POST', `/v1/payments/${orphan}/refund`, { body: { amount: '1' } });
  await api.send('POST', '/v1/api-keys', { body: { scopes: ['orders:self:read'], label: text } });
  const [delivery] = await until('a delivery', async () => {
    const { items } = await api.deliveries(webhook, { status: 'delivered' });
    return items.length > 0 && items;
  });
  const { request_id: request } = (await api.send('GET', `/v1/orders/${encodeURIComponent(text)}`)).body;
  await until('the request is in the log', async () => {
    const { body } = await api.send('GET', `/v1/requests?request_id=${request}`);
    return body.total === 1;
  });
  const ids = { waiting: waiting.id, paid: paid.id, canceled: canceled.id };
  return { shop, orders: ids, orphan, webhook, delivery: delivery!.id, request };
};
