import type { ResourceMessage } from '@cpg/contracts';
import type { Logger } from '@cpg/platform';
import type { Ingest } from './ingest.ts';
import type { Instance } from '../instance.ts';
import { renderMessage } from '../delivery/render.ts';
import { firstBodyDay, type Retention } from '../retention/partitions.ts';
import type { Directory, Subscriptions } from '../webhooks/directory.ts';

export interface EventsOptions {
  readonly webhooks: Directory;
  readonly ingest: Ingest;
  readonly retention: Retention;
  /** The time by which bodies end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  readonly sawEventsOf: Instance['sawEventsOf'];
  readonly log: Logger;
}

/** Turns order and payment messages into deliveries, one per subscribed webhook. Idempotent. */
export const deliverEvents =
  ({ webhooks, ingest, retention, endsBy, sawEventsOf, log }: EventsOptions) =>
  async (messages: readonly ResourceMessage[]): Promise<void> => {
    sawEventsOf(messages.map(({ time }) => time));
    const deletedOrderIds = [
      ...new Set(messages.filter(({ type }) => type === 'order.deleted').map(({ orderid }) => orderid)),
    ];
    const oldest = firstBodyDay(endsBy(), retention);
    const rendered = messages.flatMap((message) => renderMessage(message));
    const recent = rendered.filter(({ day }) => day >= oldest);
    if (recent.length < rendered.length)
      log.warn({ events: rendered.length - recent.length, oldest }, 'skipped events older than the body retention');
    if (recent.length === 0 && deletedOrderIds.length === 0) return;

    const ingestFor = async (subscriptions: ReadonlyMap<string, Subscriptions>, deletedOrderIds: readonly string[]) => {
      const recipients = recent.flatMap((event) =>
        (subscriptions.get(event.merchantId)?.webhooks ?? [])
          .filter((webhook) => webhook.isEnabled && webhook.events.includes(event.type))
          .map(({ id }) => ({ event, webhookId: id })),
      );
      const events = [...new Set(recipients.map(({ event }) => event))];
      const versions = new Map([...subscriptions].map(([merchantId, { version }]) => [merchantId, version]));
      return (await ingest({ events, recipients, deletedOrderIds, versions })).outdatedMerchantIds;
    };
    const merchantIds = [...new Set(recent.map(({ merchantId }) => merchantId))];
    let outdated = await ingestFor(await webhooks.ofMerchants(merchantIds), deletedOrderIds);
    // Locked, so that a merchant that changes a webhook all the time cannot hold up the next events.
    while (outdated.length > 0) {
      outdated = await webhooks.withLocked(outdated, (subscriptions) => ingestFor(subscriptions, []));
    }
  };
