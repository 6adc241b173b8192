import type { Queryable } from '@cpg/platform/postgres';
import { type ClaimRequest, webhooksWithUnleasedWork } from './queue-table.ts';
import type { Dispatcher } from './dispatcher.ts';

const WEBHOOKS_PER_POLL = 1_000;
const WEBHOOKS_PER_CLAIM = 200;
const ROWS_PER_CLAIM = 1_024;

/** The webhooks that have due, unleased work, in the order in which they are served. */
export const createClaimBacklog = (dispatcher: Pick<Dispatcher, 'isOpen' | 'demandOf' | 'freeDeliveries'>) => {
  const webhookIds = new Set<string>();
  let cursor = '';
  return {
    add: (webhookId: string) => {
      webhookIds.add(webhookId);
    },
    isEmpty: () => webhookIds.size === 0,
    /** Adds the next page of webhooks that have due work. */
    poll: async (db: Queryable, now: Date): Promise<void> => {
      const found = await webhooksWithUnleasedWork(db, { after: cursor, limit: WEBHOOKS_PER_POLL });
      for (const { webhookId, dueAt } of found) if (dueAt <= now) webhookIds.add(webhookId);
      cursor = found.length < WEBHOOKS_PER_POLL ? '' : found.at(-1)!.webhookId;
    },
    /** The deliveries to claim next: each webhook gets an equal part of the free memory, up to its demand. */
    nextClaims: (): ClaimRequest[] => {
      const requests: ClaimRequest[] = [];
      for (const webhookId of webhookIds) {
        if (requests.length >= WEBHOOKS_PER_CLAIM) break;
        if (dispatcher.isOpen(webhookId)) {
          webhookIds.delete(webhookId);
          continue;
        }
        const limit = dispatcher.demandOf(webhookId);
        if (limit > 0) requests.push({ webhookId, limit });
      }
      const share = Math.ceil(Math.min(ROWS_PER_CLAIM, dispatcher.freeDeliveries()) / Math.max(1, requests.length));
      return requests
        .map(({ webhookId, limit }) => ({ webhookId, limit: Math.min(limit, share) }))
        .filter(({ limit }) => limit > 0);
    },
    /** Call after a claim, with one webhook id per claimed row. Moves webhooks that may have more due work to the end,
     *  and removes the others. */
    served: (requests: readonly ClaimRequest[], claimed: readonly string[]) => {
      const counts = new Map<string, number>();
      for (const webhookId of claimed) counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1);
      for (const { webhookId, limit } of requests) {
        webhookIds.delete(webhookId);
        if ((counts.get(webhookId) ?? 0) >= limit) webhookIds.add(webhookId);
      }
    },
  };
};
