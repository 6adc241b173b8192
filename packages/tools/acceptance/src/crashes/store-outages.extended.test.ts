import { setTimeout as sleep } from 'node:timers/promises';
import { WebhookPayload } from '@cpg/contracts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { type ProxiedStack, startProxiedStack } from '../harness/proxies.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { purchase, startShoppers } from '../harness/shoppers.ts';
import { until } from '../harness/until.ts';

const HOOK = '/hook';

let proxied: ProxiedStack;
let shop: Shop;
let receiver: Receiver;

beforeAll(async () => {
  [proxied, receiver] = await Promise.all([startProxiedStack({ discover: true }), startReceiver()]);
  shop = await openShop(proxied.stack);
  const webhook = await shop.api.createWebhook({ url: receiver.urlOf(HOOK), events: ['order:paid'] });
  await shop.api.updateWebhook(webhook.id, { is_enabled: true });
});

afterAll(async () => {
  await shop?.api.close();
  await proxied?.stop();
  await receiver?.close();
});

const paidOrders = () => receiver.attemptsOn(HOOK).map(({ rawBody }) => WebhookPayload.parse(JSON.parse(rawBody)).data);

test.each([300, 1_500, 4_000, 8_000])(
  'orders are created, paid and announced again after an event store found by gossip was unavailable for %i ms',
  async (forMs) => {
    const shoppers = startShoppers(2, () => purchase(shop.api));
    await until('a purchase', () => shoppers.visits.length > 0);
    const unblock = await proxied.proxies.block('eventstore');
    await sleep(forMs);
    const before = shoppers.visits.length;
    await unblock();
    // The last of these began after the outage.
    await until('purchases', () => shoppers.visits.length > before + 4);
    const { id } = shoppers.visits.at(-1)!.order;
    await until('the webhook', () => paidOrders().some((order) => order.id === id));
    await shoppers.stop();
  },
);
