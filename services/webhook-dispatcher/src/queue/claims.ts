import type { Pool, Queryable } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';
import type { Delivery, StoredEvent } from '../delivery/delivery.ts';
import type { Directory } from '../webhooks/directory.ts';
import { failDeliveriesOfWebhook } from './deletions.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { LeaseChanges, Leases } from './leases.ts';
import {
  claim,
  type ClaimRequest,
  loadEvents,
  type QueueRow,
  releaseLeases,
  webhooksWithUnleasedWork,
} from './queue-table.ts';

export interface ClaimOptions {
  readonly pool: Pool;
  readonly leases: Leases;
  readonly dispatcher: Dispatcher;
  readonly webhooks: Directory;
  readonly changes: LeaseChanges;
  readonly now: () => Date;
  readonly log: Logger;
  /** How often the queue is searched for webhooks with due work. */
  readonly pollMs?: number;
}

const AFTER_FAULT_MS = 500;
const ROWS_PER_STATEMENT = 1_000;

/** Claims due, unleased deliveries: retries, deliveries that found no free memory, and those of crashed instances. Each
 *  webhook gets at most what its endpoint can take, so a million deliveries to dead endpoints cost as much as a few. */
export const startClaims = (options: ClaimOptions) => {
  const { pool, leases, dispatcher, changes, now, log, pollMs = 200 } = options;
  const backlog = createClaimBacklog(dispatcher);
  let endPause = () => {};
  let isStopped = false;
  let polledAt = -Infinity;

  const pause = (ms: number) =>
    new Promise<void>((done) => {
      const timer = setTimeout(done, Math.max(0, ms));
      endPause = () => {
        clearTimeout(timer);
        done();
      };
    });
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
      const rows = await claim(pool, { requests, bytes: dispatcher.freeBytes(), holder, now: now() });
      const events = await loadEvents(pool, rows);
      backlog.served(
        requests,
        rows.map((row) => row.webhook_id),
      );
      // The leases expired meanwhile: other instances make these attempts.
      if (leases.holder() !== holder) return 0;
      dispatcher.accept(rows.map((row) => deliveryOf(row, events.get(row.event_id))));
      return rows.length;
    });
  };
  const run = async () => {
    while (!isStopped) {
      try {
        await poll();
        if ((await claimNext()) === 0 && !isStopped) await pause(polledAt + pollMs - performance.now());
      } catch (error) {
        log.warn({ err: error }, 'claiming due deliveries failed, will retry');
        await pause(AFTER_FAULT_MS);
      }
    }
  };
  const running = run();
  return {
    /** The queue has due work for this webhook. */
    expect: (webhookId: string) => {
      backlog.add(webhookId);
      if (dispatcher.demandOf(webhookId) > 0) endPause();
    },
    /** Memory may have become free. */
    wake: () => {
      if (!backlog.isEmpty()) endPause();
    },
    /** Releases the leases of deliveries that the dispatcher will not attempt now. */
    requeue: createRequeue(options),
    stop: async () => {
      isStopped = true;
      endPause();
      await running;
    },
  };
};

export type Claims = ReturnType<typeof startClaims>;

/** The requests whose webhooks may be sent to. Fails what is queued for disabled and deleted webhooks. */
const sendableRequests = async (
  requests: readonly ClaimRequest[],
  { pool, webhooks, now }: ClaimOptions,
): Promise<ClaimRequest[]> => {
  await webhooks.load(requests.map(({ webhookId }) => webhookId));
  // A webhook that was just enabled must not lose its new deliveries: read it again before anything fails.
  const disabled = requests.filter(({ webhookId }) => !webhooks.get(webhookId)?.isEnabled);
  await webhooks.load(
    disabled.map(({ webhookId }) => webhookId),
    0,
  );
  const sendable: ClaimRequest[] = [];
  for (const request of requests) {
    const { webhookId } = request;
    const webhook = webhooks.get(webhookId);
    const isDeleted = webhook === null;
    const failed = webhook?.isEnabled
      ? 0
      : await failDeliveriesOfWebhook(pool, { webhookId, withTests: isDeleted, limit: ROWS_PER_STATEMENT, now: now() });
    // A disabled webhook may still have test deliveries.
    if (!isDeleted && failed < ROWS_PER_STATEMENT) sendable.push(request);
  }
  return sendable;
};

/** A delivery without a body if retention has deleted it. */
const deliveryOf = (row: QueueRow, event: StoredEvent | undefined): Delivery => ({
  position: row.position,
  id: row.delivery_id,
  day: row.day,
  webhookId: row.webhook_id,
  orderId: row.order_id,
  attempts: row.attempts,
  attemptsBefore: row.attempts_before,
  isTest: row.is_test,
  event: event ?? { id: row.event_id, occurredMs: 0, sequence: '0', hash: null, body: Buffer.alloc(0) },
});

/** Requests that arrive while one waits share its statement: many endpoints can time out at the same moment. */
const createRequeue = ({ pool, leases, dispatcher, changes, log }: ClaimOptions) => {
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
