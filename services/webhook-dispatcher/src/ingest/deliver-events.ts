import type { ResourceMessage } from '@cpg/contracts';
import type { Logger } from '@cpg/platform';
import type { Ingest } from './ingest.ts';
import { passes, renderMessage } from '../delivery/render.ts';
import { firstBodyDay, type Retention } from '../queue/partitions.ts';
import type { Directory, Subscriptions } from '../webhooks/directory.ts';

export interface EventsOptions {
  readonly webhooks: Directory;
  readonly ingest: Ingest;
  readonly retention: Retention;
  /** The time by which bodies end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  /** Takes note of the times of consumed events, ISO 8601. */
  readonly sawEventsOf: (times: readonly string[]) => void;
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
          .filter(({ isEnabled, events, filter }) => isEnabled && events.includes(event.type) && passes(filter, event))
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

interface Call<T> {
  readonly items: readonly T[];
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

const MAX_ITEMS = 1_000;

/** Batches concurrent calls, up to 1,000 items at a time.
 *  Calls that are made together share a run of `handle`: all partitions of a fetch share a transaction.
 *  Calls that arrive during a run share the next one.
 *  If a batch fails, each of its calls is handled by itself, so that one cannot fail another. */
export const batchCalls = <T>(handle: (items: readonly T[]) => Promise<void>) => {
  const waiting: Call<T>[] = [];
  let isRunning = false;

  const handleCalls = async (calls: readonly Call<T>[]): Promise<void> => {
    try {
      await handle(calls.flatMap(({ items }) => items));
      for (const { done } of calls) done();
    } catch (error) {
      if (calls.length === 1) calls[0]!.fail(error);
      else for (const call of calls) await handleCalls([call]);
    }
  };
  const run = async () => {
    isRunning = true;
    // A tick comes after the calls for the other partitions of the fetch.
    await new Promise<void>((done) => process.nextTick(done));
    while (waiting.length > 0) await handleCalls(takeFrom(waiting));
    isRunning = false;
  };
  return (items: readonly T[]): Promise<void> =>
    new Promise((done, fail) => {
      waiting.push({ items, done, fail });
      if (!isRunning) void run();
    });
};

/** Removes the oldest calls, at least one. */
const takeFrom = <T>(waiting: Call<T>[]): Call<T>[] => {
  const taken = waiting.splice(0, 1);
  let size = taken[0]!.items.length;
  while (waiting.length > 0 && size + waiting[0]!.items.length <= MAX_ITEMS) {
    size += waiting[0]!.items.length;
    taken.push(waiting.shift()!);
  }
  return taken;
};
