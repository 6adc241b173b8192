import type { Pool } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';
import { createPause } from './pause.ts';
import type { Leases } from './leases.ts';
import type { Directory } from '../webhooks/directory.ts';
import { createClaimBacklog } from './claim-backlog.ts';
import { leaseDeliveries, sendableRequests } from './claim-deliveries.ts';
import type { WebhookDispatcher } from './dispatcher.ts';
import type { LeaseChanges } from './lease-changes.ts';

export interface Claims {
  /** The queue has due work for this webhook. */
  readonly expect: (webhookId: string) => void;
  /** Memory may have become free. */
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
}

export interface ClaimOptions {
  readonly pool: Pool;
  readonly leases: Leases;
  readonly dispatcher: WebhookDispatcher;
  readonly webhooks: Directory;
  readonly changes: LeaseChanges;
  readonly now: () => Date;
  readonly log: Logger;
  /** How often the queue is searched for webhooks with due work. */
  readonly pollMs?: number;
}

const AFTER_FAULT_MS = 500;

/** Claims due, unleased deliveries: retries, deliveries that found no free memory, and those of crashed instances. Each
 *  webhook gets at most what its endpoint can take, so a million deliveries to dead endpoints cost as much as a few. */
export const startClaims = (options: ClaimOptions): Claims => {
  const { pool, leases, dispatcher, changes, now, log, pollMs = 200 } = options;
  const backlog = createClaimBacklog(dispatcher);
  const pause = createPause();
  let isStopped = false;
  let polledAt = -Infinity;

  const poll = async () => {
    if (performance.now() - polledAt < pollMs) return;
    polledAt = performance.now();
    await changes.reconcile();
    await backlog.poll(pool, now());
    dispatcher.tick();
  };
  /** Returns how many deliveries it leased. */
  const claimNext = async (): Promise<number> => {
    if (!leases.isValid()) return 0;
    const requests = await sendableRequests(backlog.nextClaims(), options);
    if (requests.length === 0) return 0;
    return changes.exclusively(async () => {
      const holder = leases.holder();
      const deliveries = await leaseDeliveries(requests, { pool, holder, bytes: dispatcher.freeBytes(), now });
      backlog.served(
        requests,
        deliveries.map(({ webhookId }) => webhookId),
      );
      // The leases expired meanwhile: other instances make these attempts.
      if (leases.holder() !== holder) return 0;
      dispatcher.accept(deliveries);
      return deliveries.length;
    });
  };
  const run = async () => {
    while (!isStopped) {
      try {
        await poll();
        if ((await claimNext()) === 0 && !isStopped) await pause.wait(polledAt + pollMs - performance.now());
      } catch (error) {
        log.warn({ err: error }, 'claiming due deliveries failed, will retry');
        await pause.wait(AFTER_FAULT_MS);
      }
    }
  };
  const running = run();
  return {
    expect: (webhookId) => {
      backlog.add(webhookId);
      if (dispatcher.demandOf(webhookId) > 0) pause.end();
    },
    wake: () => {
      if (!backlog.isEmpty()) pause.end();
    },
    stop: async () => {
      isStopped = true;
      pause.end();
      await running;
    },
  };
};
