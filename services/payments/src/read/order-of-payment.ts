import { isTombstone, rawEventsOf } from '@cpg/event-sourcing';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';

const MAX_KNOWN = 20_000;

/** Finds the order that the first event of a payment names, for each of its events. An assignment to another order
 *  changes nothing: the events of a payment stay in one shard. Null for a deleted payment, whose events are gone. */
export const orderOfPayment = (client: EventStoreDBClient) => {
  const known = new LRUCache<string, string>({ max: MAX_KNOWN });
  return async (entry: AllStreamResolvedEvent): Promise<string | null> => {
    if (isTombstone(entry)) return null;
    const event = entry.event!;
    const order = known.get(event.streamId) ?? orderIn(event.revision === 0n ? event : await first(event.streamId));
    if (order === null) return null;
    known.set(event.streamId, order);
    return order;
  };

  async function first(stream: string) {
    for await (const { event } of rawEventsOf(client, stream)) return event;
    return undefined;
  }
};

/** Events of every version have the field, so the event needs no further check. */
const orderIn = (event: { readonly data: unknown } | undefined): string | null =>
  (event?.data as { readonly orderId?: string } | undefined)?.orderId ?? null;
