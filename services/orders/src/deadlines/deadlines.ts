import { setTimeout as sleep } from 'node:timers/promises';
import { type AssetTable, payableStep } from '@cpg/assets';
import { isAppError } from '@cpg/contracts';
import { UnreadableEventError } from '@cpg/event-sourcing';
import { type CallContext, type Logger, newContext, retry, untilBack, type Wait } from '@cpg/platform';
import { isTransientDatabaseError, type Pool } from '@cpg/platform/postgres';
import pMap from 'p-map';
import type { OrderHandler } from '../commands/order-handler.ts';
import { dueAt, type ExistingOrder, exists } from '../order/state.ts';
import type { OrderCommands } from '../commands/order-commands.ts';
import type { OutcomesLimits } from '../commands/payments-client.ts';
import { type FindPayables, recordWith } from '../create/payables.ts';
import type { OrderCommand } from '../order/command.ts';
import { awaitsConfirmation, deadlineAfterRenewal, earlierOf, plusMinutes, renewsWhenDue } from '../order/deadline.ts';
import { quoteItems, type RateProvider } from '../rates/rates.ts';
import type { AwaitsChains } from './unread-chains.ts';

export interface DeadlineOptions {
  readonly readModel: Pool;
  readonly handler: OrderHandler;
  readonly runDue: RunDue;
  readonly now: () => Date;
  /** The time by which orders end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  /** Waits between attempts. */
  readonly wait?: Wait;
  readonly log: Logger;
  readonly everyMs?: number;
}

const POLL_INTERVAL_MS = 500;
const CLAIM_BATCH = 50;
/** Longer than a batch takes, even if every command waits for a timeout. */
const CLAIM_LEASE_S = 30;
const CONCURRENCY = 8;
const RETRY_AFTER_S = 5;
const RETRY_AFTER_OUTAGE_S = 1;
const MAX_LOOK_AFTER_S = 60;
/** A retry does not help an order that this version cannot read; a new row, made by a fixed version, ends the claim. */
const RETRY_UNREADABLE_AFTER_S = 3_600;

/** A claim that ends later was made by a clock that ran ahead. */
const LONGEST_CLAIM_S = RETRY_UNREADABLE_AFTER_S + 60;

// Missing deposit instructions are found by any clock.
const CLAIM_DUE = `
  update orders.orders as row set claimed_until = $1::timestamptz + interval '${CLAIM_LEASE_S} seconds'
  from (select id from orders.orders where due_at <= $1 and (due_at <= $2 or status = 'initialized')
          and (claimed_until is null or claimed_until < $1
               or claimed_until > $1::timestamptz + interval '${LONGEST_CLAIM_S} seconds')
        order by least(coalesce(claimed_until, due_at), $1) limit ${CLAIM_BATCH} for update skip locked) as due
  where row.id = due.id returning row.id`;

const EXTEND_CLAIM = `update orders.orders set claimed_until = $2::timestamptz + $3 * interval '1 second' where id = $1`;

/** Runs due orders: expiry, renewal and missing deposit instructions. Read model rows say when.
 *  Instances share the work by claims, which end 30 seconds after a crash. */
export const watchDeadlines = (options: DeadlineOptions): { stop: () => Promise<void> } => {
  const stopping = new AbortController();
  const { readModel, now, endsBy, wait, log, everyMs = POLL_INTERVAL_MS } = options;
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      const found = await retry(() => readModel.query<{ id: string }>(CLAIM_DUE, [now(), endsBy()]), {
        signal,
        ...untilBack(wait),
        onError: (error) => log.warn({ err: error }, 'cannot query due orders, retrying'),
      }).catch(() => ({ rows: [] }));
      const run = ({ id }: { id: string }) => (signal.aborted ? undefined : runOrder(id, options));
      await pMap(found.rows, run, { concurrency: CONCURRENCY });
      if (found.rows.length < CLAIM_BATCH) await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

/** A tenth of the time that the order has waited: a chain that is not read for hours must not keep the timer busy. */
const secondsUntilNextLook = (order: ExistingOrder, now: Date): number =>
  Math.min(MAX_LOOK_AFTER_S, Math.max(1, (now.getTime() - Date.parse(dueAt(order))) / 10_000));

const runOrder = async (orderId: string, { readModel, handler, runDue, now, log }: DeadlineOptions): Promise<void> => {
  const context = newContext('service:orders');
  let retryAfterS = RETRY_AFTER_S;
  try {
    const { state } = await handler.load(orderId);
    if (!exists(state)) return;
    const done = await runDue(state, context);
    if (done === 'awaits chains') retryAfterS = secondsUntilNextLook(state, now());
    else if (done) return;
    else if (state.status !== 'initialized') {
      // The row is due and the cached order is not: the cache may be stale. The order is read again after the claim
      // ends.
      handler.evict(orderId);
      return;
    }
  } catch (error) {
    if (isAppError(error, 'not_found')) return;
    if (error instanceof UnreadableEventError) {
      retryAfterS = RETRY_UNREADABLE_AFTER_S;
      log.error({ err: error, orderId }, 'a due order cannot be read');
    } else {
      if (isAppError(error, 'dependency_unavailable') || isTransientDatabaseError(error))
        retryAfterS = RETRY_AFTER_OUTAGE_S;
      log.warn({ err: error, orderId }, 'a due order could not be processed and is retried');
    }
  }
  await readModel.query(EXTEND_CLAIM, [orderId, now(), retryAfterS]).catch(() => {}); // If this fails, the claim ends by itself.
};

/** Does what the clock requires: expires or renews the order, or finds deposit instructions again, and sends payments
 *  the outcomes. Null if nothing is due. */
export type RunDue = (order: ExistingOrder, context: CallContext) => Promise<ExistingOrder | 'awaits chains' | null>;

interface RunDueOptions {
  readonly commands: OrderCommands;
  readonly payablesOf: FindPayables;
  readonly awaitsChains: AwaitsChains;
  readonly rates: RateProvider;
  /** How long rates may be locked, from their quote. */
  readonly rateLockMaxMinutes: number;
  readonly assets: AssetTable;
  readonly now: () => Date;
  /** The time by which orders end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
}

/** A timer serves many orders: payments that does not answer must not hold up the others. */
const LIMITS: OutcomesLimits = { timeoutMs: 3_000, connectRetryMs: 0 };

export const dueOrders = (options: RunDueOptions): RunDue => {
  const { commands, payablesOf, awaitsChains, now, endsBy } = options;
  return async (order, context) => {
    const at = endsBy();
    if (at.toISOString() >= dueAt(order)) {
      if (awaitsConfirmation(order, at)) return null;
      if (await awaitsChains(order, context)) return 'awaits chains';
      const command = renewsWhenDue(order)
        ? await renewal(order, options)
        : { type: 'ExpireOrder' as const, at: now() };
      return commands.runAndNotify(order.orderId, command, context, { limits: LIMITS });
    }
    if (order.status !== 'initialized') return null;
    const payables = await payablesOf(order, context);
    if (!payables) return null;
    const command = { type: 'InstructOrder', instructions: payables.instructions, at: now() } as const;
    return recordWith(payables, (beforeAppend) =>
      commands.runAndNotify(order.orderId, command, context, { limits: LIMITS, beforeAppend }),
    );
  };
};

const renewal = async (
  order: ExistingOrder,
  { rates, rateLockMaxMinutes, assets, now }: RunDueOptions,
): Promise<OrderCommand> => {
  const at = now();
  const ratesExpireAt = earlierOf(deadlineAfterRenewal(order, at), plusMinutes(at, rateLockMaxMinutes));
  const { items, currency, decimals } = order;
  const lock = { now: at, expiresAt: ratesExpireAt, decimals, stepMinor: payableStep(assets, currency, decimals) };
  return { type: 'RenewOrder', ...(await quoteItems(rates, items, currency, lock)), ratesExpireAt, at };
};
