import type { DomainMessage } from '@cpg/contracts';
import type { Logger } from '@cpg/runtime';
import type { Intake } from '../delivery/intake.ts';
import { type ToldEvent, tell } from '../delivery/payload.ts';
import { groupBy } from '../group-by.ts';
import { firstBodyDay, type Retention } from '../storage/partitions.ts';
import type { Directory, Webhook } from '../webhooks/directory.ts';

export interface EventsOptions {
  readonly webhooks: Directory;
  readonly takeIn: Intake;
  readonly retention: Retention;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Messages of orders and payments become one delivery per webhook that subscribed to them. Safe to run again for any of them. */
export const deliverEvents =
  ({ webhooks, takeIn, retention, now, log }: EventsOptions) =>
  async (messages: readonly DomainMessage[]): Promise<void> => {
    const deletedOrderIds = [
      ...new Set(messages.filter(({ type }) => type === 'order.deleted').map(({ orderid }) => orderid)),
    ];
    const oldest = firstBodyDay(now(), retention);
    const told = messages.map(tell).filter((event) => event !== null);
    const recent = told.filter(({ day }) => day >= oldest);
    if (recent.length < told.length)
      log.warn({ events: told.length - recent.length, oldest }, 'events older than what is kept are not delivered');
    if (recent.length === 0 && deletedOrderIds.length === 0) return;

    const ofMerchant = await webhooksByMerchant(webhooks, recent);
    const recipients = recent.flatMap((event) =>
      (ofMerchant.get(event.merchantId) ?? [])
        .filter((webhook) => webhook.isEnabled && webhook.events.includes(event.type))
        .map(({ id }) => ({ event, webhookId: id })),
    );
    const events = [...new Set(recipients.map(({ event }) => event))];
    if (events.length > 0 || deletedOrderIds.length > 0) await takeIn({ events, recipients, deletedOrderIds });
  };

const webhooksByMerchant = async (
  webhooks: Directory,
  events: readonly ToldEvent[],
): Promise<Map<string, Webhook[]>> => {
  if (events.length === 0) return new Map();
  const found = await webhooks.ofMerchants([...new Set(events.map(({ merchantId }) => merchantId))]);
  return groupBy(found, ({ merchantId }) => merchantId);
};
