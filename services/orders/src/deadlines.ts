import { setTimeout as sleep } from 'node:timers/promises';
import { isAppError } from '@cpg/core';
import type { Pool } from '@cpg/postgres';
import { type CallContext, type Logger, newRequestId } from '@cpg/runtime';
import type { OrderCommands, OrderHandler } from './commands.ts';
import { exists } from './order/state.ts';

export interface DeadlineOptions {
  readonly readModel: Pool;
  readonly handler: OrderHandler;
  readonly commands: OrderCommands;
  readonly now: () => Date;
  readonly log: Logger;
  readonly everyMs?: number;
}

const EVERY_MS = 500;
const CLAIM = 50;
/** Longer than a claim of rows takes, even if each has to wait for an answer that does not come. */
const CLAIMED_FOR_S = 30;
const AT_ONCE = 8;
const AGAIN_AFTER_S = 5;

const CLAIM_DUE = `
  update orders.orders as row set claimed_until = $1::timestamptz + interval '${CLAIMED_FOR_S} seconds'
  from (select id from orders.orders where due_at <= $1 and (claimed_until is null or claimed_until < $1)
        order by coalesce(claimed_until, due_at) limit ${CLAIM} for update skip locked) as due
  where row.id = due.id returning row.id`;

const CLAIM_AGAIN = `update orders.orders set claimed_until = $2::timestamptz + interval '${AGAIN_AFTER_S} seconds' where id = $1`;

/** Does what is due by the clock: expiry, renewal, instructions that were slow. Durable: what fell due while nothing ran is found at the
 *  next start. What cannot be done yet takes turns with the rest. Any number of instances share the work; one that dies loses its claim
 *  after half a minute. */
export const watchDeadlines = (options: DeadlineOptions): { stop: () => Promise<void> } => {
  const stopping = new AbortController();
  const { readModel, now, log, everyMs = EVERY_MS } = options;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const found = await readModel.query<{ id: string }>(CLAIM_DUE, [now()]).catch((error: unknown) => {
        log.warn({ err: error }, 'cannot look for what is due');
        return { rows: [] };
      });
      const claimed = found.rows.length;
      const lane = async () => {
        for (let row = found.rows.shift(); row && !stopping.signal.aborted; row = found.rows.shift())
          await actOn(row.id, options);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      if (claimed < CLAIM) await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

const actOn = async (orderId: string, { readModel, handler, commands, now, log }: DeadlineOptions): Promise<void> => {
  const requestId = newRequestId();
  const context: CallContext = { actor: 'service:orders', requestId, correlationId: requestId };
  try {
    const { state } = await handler.load(orderId);
    if (!exists(state)) return;
    const done = await commands.due(state, context);
    if (done) return;
    if (state.status !== 'initialized') {
      // Its row says that it is due: what this process remembers may be behind, and is read anew once the claim runs out.
      handler.evict(orderId);
      return;
    }
  } catch (error) {
    if (isAppError(error, 'not_found')) return;
    log.warn({ err: error, orderId }, 'what is due could not be done yet');
  }
  await readModel.query(CLAIM_AGAIN, [orderId, now()]).catch(() => {}); // Else its claim runs out.
};
