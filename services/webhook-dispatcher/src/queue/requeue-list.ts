import type { Delivery } from '../delivery/delivery.ts';
import type { LeaseStore } from './lease-store.ts';

/** Lists deliveries that this instance will not attempt now and whose leases are to be released: single ones, and all
 *  that wait for a webhook. Calls `onAdded` for each addition. */
export const createRequeueList = (store: Pick<LeaseStore, 'cancelWaiting'>, onAdded: () => void) => {
  const webhooks = new Map<string, { includeTests: boolean }>();
  const single: Delivery[] = [];
  const isListed = ({ webhookId, isTest }: Delivery): boolean => {
    const listed = webhooks.get(webhookId);
    return listed !== undefined && (listed.includeTests || !isTest);
  };
  return {
    add: (deliveries: readonly Delivery[]) => {
      if (deliveries.length === 0) return;
      single.push(...deliveries);
      onAdded();
    },
    /** Lists the deliveries that wait for a webhook at the time of `take`. */
    addWaitingOf: (webhookId: string, { includeTests }: { includeTests: boolean }) => {
      webhooks.set(webhookId, { includeTests: includeTests || (webhooks.get(webhookId)?.includeTests ?? false) });
      onAdded();
    },
    isEmpty: () => webhooks.size === 0 && single.length === 0,
    /** Empties the list: cancels the next attempts of the listed deliveries and returns these. `all` includes every
     *  waiting delivery. */
    take: ({ all }: { all: boolean }): Delivery[] => {
      const waiting = all || webhooks.size > 0 ? store.cancelWaiting(all ? () => true : isListed) : [];
      webhooks.clear();
      return [...single.splice(0), ...waiting];
    },
  };
};

export type RequeueList = ReturnType<typeof createRequeueList>;
