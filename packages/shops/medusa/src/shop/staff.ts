import { container } from '@medusajs/framework';
import { ContainerRegistrationKeys, Modules } from '@medusajs/framework/utils';
import type { Order } from '@cpg/sdk';
import type { FoundSale } from './read-sale.ts';

interface News {
  readonly order: Order;
  readonly sale: FoundSale | undefined;
  /** The same for the same news: staff reads it once. */
  readonly id: string;
  /** One sentence. */
  readonly text: string;
}

const KEY = 'crypto_payments';

/** Tells the staff: by the bell of the admin, in the metadata of the order if there is one, and in the log. */
export const tellStaff = async ({ order, sale, id, text }: News): Promise<void> => {
  const subject = sale?.orderId ?? sale?.cartId ?? order.id;
  const notifications = container.resolve(Modules.NOTIFICATION);
  const key = `crypto-payments:${order.id}:${id}`;
  const known = await notifications.listNotifications({ idempotency_key: key } as never, { take: 1 });
  if (known.length > 0) return;
  container.resolve(ContainerRegistrationKeys.LOGGER).warn(`crypto payments: ${subject}: ${text}`);
  if (sale?.orderId !== undefined) await noteOnOrder(sale.orderId, text);
  await notifications.createNotifications({
    to: '',
    channel: 'feed',
    template: 'admin-ui',
    idempotency_key: key,
    data: { title: `Crypto payment of ${subject}`, description: `${text} Order of the gateway: ${order.id}.` },
  });
};

const noteOnOrder = async (orderId: string, text: string): Promise<void> => {
  const orders = container.resolve(Modules.ORDER);
  const { metadata } = await orders.retrieveOrder(orderId, { select: ['id', 'metadata'] });
  const noted = String(metadata?.[KEY] ?? '');
  if (noted.includes(text)) return;
  await orders.updateOrders(orderId, { metadata: { ...metadata, [KEY]: [noted, text].filter(Boolean).join(' ') } });
};
