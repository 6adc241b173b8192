import type { DomainMessage } from '@cpg/contracts';
import type { Logger } from '@cpg/runtime';
import type { Intake } from '../delivery/intake.ts';
import { tell } from '../delivery/payload.ts';
import { firstBodyDay, type Retention } from '../storage/partitions.ts';
import type { Directory, Subscriptions } from '../webhooks/directory.ts';

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

    const merchantIds = [...new Set(recent.map(({ merchantId }) => merchantId))];
    const takeInBy = (subscriptions: ReadonlyMap<string, Subscriptions>) => {
      const recipients = recent.flatMap((event) =>
        subscriptions
          .get(event.merchantId)!
          .webhooks.filter((webhook) => webhook.isEnabled && webhook.events.includes(event.type))
          .map(({ id }) => ({ event, webhookId: id })),
      );
      const events = [...new Set(recipients.map(({ event }) => event))];
      const versions = new Map([...subscriptions].map(([merchantId, { version }]) => [merchantId, version]));
      return takeIn({ events, recipients, deletedOrderIds, versions });
    };
    let taken = await takeInBy(await webhooks.ofMerchants(merchantIds));
    while (!taken) taken = await takeInBy(await webhooks.ofMerchants(merchantIds, { anew: true }));
  };
