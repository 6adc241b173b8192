import { isTemporary } from '@cpg/contracts';
import { type Logger, type Outages, wallClockMs } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { type MeasuredWork, startLeaderRounds } from './leader-rounds.ts';
import { moveEvents, oldestWaiting, waitingMerchants } from './move-events.ts';
import { requireOwnStore } from './own-store.ts';

export interface EventMoverOptions {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly environment: string;
  /** Reports an error. Returns false if it is no outage of a dependency. */
  readonly failed: Outages['failed'];
  readonly log: Logger;
  /** How long to wait after each round, in ms. */
  readonly pauseMs?: number;
}

/** Appends recorded changes to the streams of their merchants, on one gateway at a time. While the event store is
 *  unavailable, they wait in the database, and the metric `subscription_lag_seconds` shows since when. */
export const startEventMover = (options: EventMoverOptions): MeasuredWork => {
  const { client, pool, databaseUrl, environment, failed, log, pauseMs = 500 } = options;
  /** When the oldest waiting event was recorded. Undefined while another gateway leads. */
  let oldest: Date | null | undefined;

  /** Merchants whose stream cannot be written. Each is logged once, and holds up no other. */
  const stuck = new Set<string>();
  const move = async (merchantId: string): Promise<void> => {
    try {
      await moveEvents({ client, db: pool }, merchantId);
      stuck.delete(merchantId);
    } catch (err) {
      if (isTemporary(err)) throw err;
      if (!stuck.has(merchantId))
        log.error({ err, merchantId }, 'could not append changes to the stream of a merchant');
      stuck.add(merchantId);
    }
  };
  const moveWaiting = async (): Promise<void> => {
    oldest = await oldestWaiting(pool);
    if (oldest === null) return;
    await requireOwnStore(client, environment);
    for (const merchantId of await waitingMerchants(pool)) await move(merchantId);
    oldest = await oldestWaiting(pool);
  };
  const rounds = startLeaderRounds({
    databaseUrl,
    role: 'gateway merchant events',
    round: moveWaiting,
    onEnd: () => (oldest = undefined),
    failed,
    failure: 'could not append changes to the event store, retrying',
    log,
    pauseMs,
  });
  return {
    ...rounds,
    lagSeconds: () => {
      if (oldest === undefined) return null;
      return oldest ? Math.max(0, wallClockMs() - oldest.getTime()) / 1_000 : 0;
    },
  };
};
