import type { Pool } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';
import { releaseLeases } from './claim.ts';
import type { Leases } from './leases.ts';
import type { WebhookDispatcher } from './dispatcher.ts';
import type { LeaseChanges } from './lease-changes.ts';

export interface RequeuerOptions {
  readonly pool: Pool;
  readonly leases: Leases;
  readonly dispatcher: WebhookDispatcher;
  readonly changes: LeaseChanges;
  readonly log: Logger;
}

/** Releases the leases of deliveries that the dispatcher will not attempt now. Requests that arrive while one waits
 *  share its statement: many endpoints can time out at the same moment. */
export const createRequeuer = ({ pool, leases, dispatcher, changes, log }: RequeuerOptions) => {
  let isRequested = false;
  const requeue = async (): Promise<void> => {
    isRequested = false;
    const deliveries = dispatcher.takeRequeued();
    if (deliveries.length === 0) return;
    const positions = deliveries.map(({ position }) => position);
    await releaseLeases(pool, leases.holder(), positions).finally(() => dispatcher.release(deliveries));
  };
  return (): void => {
    if (isRequested) return;
    isRequested = true;
    changes.exclusively(requeue).catch((error: unknown) => {
      isRequested = false;
      log.warn({ err: error }, 'requeuing deliveries failed, will retry');
    });
  };
};
