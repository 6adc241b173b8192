import type { Pool } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';
import type { Leases } from '../storage/leases.ts';
import { claim, dropOfWebhook, eventsOf, type QueueRow, type Turn, waitingWebhooks } from '../storage/queue.ts';
import type { Directory } from '../webhooks/directory.ts';
import type { Delivery, StoredEvent } from './delivery.ts';
import type { WebhookDispatcher } from './dispatcher.ts';
import type { LeaseChanges } from './lease-changes.ts';

export interface Claims {
  /** There is work in the queue for this webhook, due now. */
  readonly expect: (webhookId: string) => void;
  /** There may be room again. */
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
  /** How often the queue is asked which webhooks have work that is due. */
  readonly lookEveryMs?: number;
}

const WEBHOOKS_PER_LOOK = 1_000;
const WEBHOOKS_PER_CLAIM = 200;
const ROWS_PER_CLAIM = 1_024;
const ROWS_PER_DROP = 1_000;
const AFTER_FAULT_MS = 500;

/** Claims what is due and in nobody's hands: retries, what there was no room for, what an instance left behind. Webhooks with due work take
 *  turns, and none gets more than its endpoint stands, so a million deliveries to dead endpoints cost as much as a few. */
export const startClaims = (options: ClaimOptions): Claims => {
  const { pool, leases, dispatcher, webhooks, changes, now, log, lookEveryMs = 200 } = options;
  // In the order of their turns.
  const backlog = new Set<string>();
  let cursor = '';
  let stopped = false;
  let wakeUp = () => {};

  const look = async () => {
    const waiting = await waitingWebhooks(pool, { after: cursor, limit: WEBHOOKS_PER_LOOK });
    const at = now();
    for (const { webhookId, dueAt } of waiting) if (dueAt <= at) backlog.add(webhookId);
    cursor = waiting.length < WEBHOOKS_PER_LOOK ? '' : waiting.at(-1)!.webhookId;
  };
  const nextTurns = (): Turn[] => {
    const at = now().getTime();
    const turns: Turn[] = [];
    for (const webhookId of backlog) {
      if (turns.length >= WEBHOOKS_PER_CLAIM) break;
      if (dispatcher.heldUntil(webhookId) > at) {
        backlog.delete(webhookId);
        continue;
      }
      const room = dispatcher.appetite(webhookId);
      if (room > 0) turns.push({ webhookId, room });
    }
    const share = Math.ceil(Math.min(ROWS_PER_CLAIM, dispatcher.roomCount()) / Math.max(1, turns.length));
    return turns
      .map(({ webhookId, room }) => ({ webhookId, room: Math.min(room, share) }))
      .filter(({ room }) => room > 0);
  };
  /** Leaves only turns of webhooks that something may be sent to; ends what is queued for the others. */
  const permitted = async (turns: readonly Turn[]): Promise<Turn[]> => {
    await webhooks.load(turns.map(({ webhookId }) => webhookId));
    // One that was enabled a moment ago shall not lose what was queued for it since.
    const off = turns.filter(({ webhookId }) => !webhooks.get(webhookId)?.isEnabled);
    await webhooks.load(
      off.map(({ webhookId }) => webhookId),
      0,
    );
    const kept: Turn[] = [];
    for (const turn of turns) {
      const webhook = webhooks.get(turn.webhookId);
      const isGone = webhook === null;
      const dropped = webhook?.isEnabled
        ? 0
        : await dropOfWebhook(pool, { webhookId: turn.webhookId, withTests: isGone, limit: ROWS_PER_DROP, now: now() });
      if (!isGone && dropped < ROWS_PER_DROP) kept.push(turn);
    }
    return kept;
  };
  const claimTurns = async (turns: readonly Turn[]): Promise<number> => {
    const holder = leases.holder();
    const rows = await claim(pool, { turns, bytes: dispatcher.roomBytes(), holder, now: now() });
    const events = rows.length > 0 ? await eventsOf(pool, rows) : new Map<string, StoredEvent>();
    const counts = new Map<string, number>();
    for (const { webhook_id } of rows) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1);
    for (const { webhookId, room } of turns) {
      backlog.delete(webhookId);
      if ((counts.get(webhookId) ?? 0) >= room) backlog.add(webhookId);
    }
    // Under another name by now, it has lost what it leased: others make the attempts.
    if (leases.holder() !== holder) return 0;
    dispatcher.accept(rows.map((row) => deliveryOf(row, events.get(row.event_id) ?? bodiless(row))));
    return rows.length;
  };
  const round = async (): Promise<number> => {
    if (!leases.valid()) return 0;
    const turns = await permitted(nextTurns());
    return turns.length === 0 ? 0 : changes.exclusively(() => claimTurns(turns));
  };

  const run = async () => {
    let lookedAt = -Infinity;
    while (!stopped) {
      try {
        if (performance.now() - lookedAt >= lookEveryMs) {
          lookedAt = performance.now();
          await changes.settle();
          await look();
          dispatcher.tick();
        }
        if ((await round()) === 0 && !stopped) await rest(lookedAt + lookEveryMs - performance.now());
      } catch (error) {
        log.warn({ err: error }, 'due deliveries could not be claimed, trying again');
        await rest(AFTER_FAULT_MS);
      }
    }
  };
  const rest = (ms: number) =>
    new Promise<void>((done) => {
      const timer = setTimeout(done, Math.max(0, ms));
      wakeUp = () => {
        clearTimeout(timer);
        done();
      };
    });
  const running = run();
  return {
    expect: (webhookId) => {
      backlog.add(webhookId);
      if (dispatcher.appetite(webhookId) > 0) wakeUp();
    },
    wake: () => {
      if (backlog.size > 0) wakeUp();
    },
    stop: async () => {
      stopped = true;
      wakeUp();
      await running;
    },
  };
};

const deliveryOf = (row: QueueRow, event: StoredEvent): Delivery => ({
  position: row.position,
  id: row.delivery_id,
  day: row.day,
  webhookId: row.webhook_id,
  orderId: row.order_id,
  attempts: row.attempts,
  attemptsBefore: row.attempts_before,
  isTest: row.is_test,
  event,
});

const bodiless = (row: QueueRow): StoredEvent => ({
  id: row.event_id,
  occurredMs: 0,
  sequence: '0',
  body: Buffer.alloc(0),
});
